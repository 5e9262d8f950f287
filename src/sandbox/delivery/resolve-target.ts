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

/**
 * Resolves the host of an endpoint before an attempt. A name with any address in a refused range is refused: the
 * attempt is recorded as failed and not sent. See docs/service.md#endpoint-urls. Never rejects.
 */
export async function resolveTarget(url: string, lookUp: LookUpHost): Promise<Target> {
  if (!isAllowedWebhookUrl(url)) return { ok: false, error: "not sent: the URL is not allowed" };
  const addresses = await addressesOf(url, lookUp);
  if (addresses.length === 0) return NOT_FOUND;
  if (addresses.every(isPublicAddress)) return { ok: true, addresses };
  return { ok: false, error: "not sent: the host name leads to a private address" };
}

/** Resolves the host in the same way, and refuses it if one of its addresses is refused. Never rejects. */
export async function checkReach(url: string, lookUp: LookUpHost, refuse: RefuseAddress): Promise<Target> {
  const addresses = await addressesOf(url, lookUp);
  if (addresses.length === 0) return NOT_FOUND;
  const reason = addresses.map(refuse).find((why) => why !== undefined);
  return reason === undefined ? { ok: true, addresses } : { ok: false, error: `not sent: ${reason}` };
}

const NOT_FOUND: Target = { ok: false, error: "not sent: the host name was not found" };

async function addressesOf(url: string, lookUp: LookUpHost): Promise<readonly string[]> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return [host];
  try {
    return await lookUp(host);
  } catch {
    return [];
  }
}

/** Uses the same ranges as for a URL with an IP address. */
function isPublicAddress(address: string): boolean {
  return isAllowedWebhookUrl(address.includes(":") ? `https://[${address}]/` : `https://${address}/`);
}
