import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isAllowedWebhookUrl } from "../../contract/webhook-url.js";

/** Finds the IP addresses of a host; rejects when it has none. */
export type LookUpHost = (host: string) => Promise<readonly string[]>;

/** The machine's resolver. */
export const lookUpHost: LookUpHost = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Where an attempt may connect to. */
export type Target = { ok: true; address: string } | { ok: false; error: string };

/**
 * Resolves the host of an endpoint before an attempt. A name with any address in a refused range is refused: the attempt is
 * recorded as failed and not sent. Seeds part 1 §4.3 rule 3. Never rejects.
 */
export async function checkTarget(url: string, lookUp: LookUpHost): Promise<Target> {
  if (!isAllowedWebhookUrl(url)) return { ok: false, error: "not sent: the URL is not allowed" };
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return { ok: true, address: host };
  let addresses: readonly string[];
  try {
    addresses = await lookUp(host);
  } catch {
    return { ok: false, error: "not sent: the host name was not found" };
  }
  const [first] = addresses;
  if (first === undefined) return { ok: false, error: "not sent: the host name was not found" };
  if (addresses.every(isPublicAddress)) return { ok: true, address: first };
  return { ok: false, error: "not sent: the host name leads to a private address" };
}

/** By the same ranges as a URL with the address in it. */
function isPublicAddress(address: string): boolean {
  return isAllowedWebhookUrl(address.includes(":") ? `https://[${address}]/` : `https://${address}/`);
}
