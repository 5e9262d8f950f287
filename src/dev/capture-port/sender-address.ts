import type { CaptureSource, HeaderList } from "../../capture/model/capture.js";
import { headerListReader } from "../../capture/model/judge-signature.js";
import { isLocalAddress } from "../../capture/send/local-address.js";

const LISTED_ADDRESS = /^[0-9A-Fa-f:.]{2,45}$/;
const PUBLIC_HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?$/i;

/** The address of a request's sender. A tunnel connects from this machine and names the sender in `X-Forwarded-For`. */
export function senderAddress(peer: string | undefined, headers: HeaderList): string {
  const direct = peer ?? "unknown";
  if (!isLocalAddress(direct)) return direct;
  const [first = ""] = (headerListReader(headers)("x-forwarded-for") ?? "").split(",");
  return LISTED_ADDRESS.test(first.trim()) ? first.trim() : direct;
}

/** The user agent of `pigeonhole trigger`. */
export const TRIGGER_AGENT = "pigeonhole-trigger";

/** User agents of our own senders. Used only as a label in the list. */
const OWN_AGENTS: Record<string, CaptureSource> = { "pigeonhole-sandbox": "sandbox", [TRIGGER_AGENT]: "trigger" };

/**
 * The origin of a request. A request directly from this machine may be from the emulated service or `pigeonhole
 * trigger`.
 */
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
