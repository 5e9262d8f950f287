import type { CaptureSource, HeaderList } from "../../capture/capture.js";
import { headerListReader } from "../../capture/judge-signature.js";
import { isLocalAddress } from "../../capture/local-address.js";

const LISTED_ADDRESS = /^[0-9A-Fa-f:.]{2,45}$/;
const PUBLIC_HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?$/i;

/** Whom a request came from. A tunnel connects from this machine and names the sender in `X-Forwarded-For`. */
export function senderAddress(peer: string | undefined, headers: HeaderList): string {
  const direct = peer ?? "unknown";
  if (!isLocalAddress(direct)) return direct;
  const [first = ""] = (headerListReader(headers)("x-forwarded-for") ?? "").split(",");
  return LISTED_ADDRESS.test(first.trim()) ? first.trim() : direct;
}

/** What `pigeonhole trigger` calls itself. */
export const TRIGGER_AGENT = "pigeonhole-trigger";

/** User agents of our own senders. A label for the list, no more. */
const OWN_AGENTS: Record<string, CaptureSource> = { "pigeonhole-sandbox": "sandbox", [TRIGGER_AGENT]: "trigger" };

/** Where a request was made: what comes straight from this machine may be the emulated service or `pigeonhole trigger`. */
export function sourceOf(peer: string | undefined, headers: HeaderList): CaptureSource {
  const header = headerListReader(headers);
  const agent = header("user-agent") ?? "";
  const isDirect = isLocalAddress(peer ?? "") && header("x-forwarded-for") === undefined;
  return isDirect && Object.hasOwn(OWN_AGENTS, agent) ? (OWN_AGENTS[agent] ?? "live") : "live";
}

/** The public origin that a tunnel received a request under; undefined without one. */
export function forwardedOrigin(headers: HeaderList): string | undefined {
  const header = headerListReader(headers);
  const proto = header("x-forwarded-proto")?.split(",")[0]?.trim();
  if (proto !== "https") return undefined;
  const host = (header("x-forwarded-host")?.split(",")[0] ?? header("host") ?? "").trim();
  const isPublic = PUBLIC_HOST.test(host) && !/^\d+(\.\d+){3}/.test(host);
  return isPublic ? `https://${host.toLowerCase()}` : undefined;
}
