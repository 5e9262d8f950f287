import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isAllowedWebhookUrl } from "../../contract/webhook-url.js";

/** Finds the IP addresses of a host; rejects when it has none. */
export type LookUpHost = (host: string) => Promise<readonly string[]>;

/** The machine's resolver. */
export const lookUpHost: LookUpHost = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Where an attempt may connect to. */
export type Target = { ok: true; addresses: readonly string[] } | { ok: false; error: string };

/** Why an IP address must not be connected to; undefined if it may. */
export type RefuseAddress = (address: string) => string | undefined;

/** What guards the network from the deliveries. */
export interface TargetGuard {
  lookUp: LookUpHost;
  /** An address that one of these refuses is refused. */
  refuse: readonly RefuseAddress[];
}

/**
 * Resolves the host of an endpoint before an attempt. A name with any address that is refused is refused: the attempt
 * is recorded as failed and not sent. See docs/service.md#endpoint-urls. Never rejects.
 */
export async function resolveTarget(url: string, { lookUp, refuse }: TargetGuard): Promise<Target> {
  const addresses = await addressesOf(url, lookUp);
  if (addresses.length === 0) return { ok: false, error: "not sent: the host name was not found" };
  const reasons = addresses.flatMap((address) => refuse.map((refuseOne) => refuseOne(address)));
  const reason = reasons.find((why) => why !== undefined);
  return reason === undefined ? { ok: true, addresses } : { ok: false, error: `not sent: ${reason}` };
}

/** Refuses the same ranges as the rule for a URL with an IP address. */
export const refusePrivate: RefuseAddress = (address) => {
  const url = address.includes(":") ? `https://[${address}]/` : `https://${address}/`;
  return isAllowedWebhookUrl(url) ? undefined : "the host name leads to a private address";
};

async function addressesOf(url: string, lookUp: LookUpHost): Promise<readonly string[]> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return [host];
  try {
    return await lookUp(host);
  } catch {
    return [];
  }
}
