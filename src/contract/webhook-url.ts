import { BlockList, isIP } from "node:net";

/** Ranges that an endpoint's IP literal may not be in. IPv4 rules apply to IPv4-mapped IPv6 too. */
const blocked = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8], // this network; reaches the machine itself
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT
  ["127.0.0.0", 8], // loopback
  ["169.254.0.0", 16], // link-local
  ["172.16.0.0", 12], // private
  ["192.168.0.0", 16], // private
  ["224.0.0.0", 4], // multicast
  ["255.255.255.255", 32], // broadcast
] as const) {
  blocked.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 96], // unspecified, loopback, and the old IPv4-compatible form
  ["64:ff9b::", 96], // IPv4 behind NAT64
  ["fc00::", 7], // unique-local
  ["fe80::", 10], // link-local
  ["fec0::", 10], // site-local, the old private range
  ["ff00::", 8], // multicast
] as const) {
  blocked.addSubnet(network, prefix, "ipv6");
}

const BLOCKED_NAME = /^localhost$|\.(?:localhost|internal|local)$/;

/**
 * The rule for an endpoint's URL (docs/service.md#endpoint-urls): https only; not `localhost`, `*.localhost`,
 * `*.internal` or `*.local`; no IP literal that is loopback, private, link-local, carrier-grade NAT, multicast or
 * unique-local, in any notation. Names are not resolved here. The service does so on every delivery.
 */
export function isAllowedWebhookUrl(text: string): boolean {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return false;
  }
  if (url.protocol !== "https:") return false;
  // URL has already normalized IPv4 addresses to dotted form. A dot at the end of a name stays.
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  const family = isIP(host);
  if (family !== 0) return !blocked.check(host, family === 6 ? "ipv6" : "ipv4");
  return host !== "" && !BLOCKED_NAME.test(host);
}
