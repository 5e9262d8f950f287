import type { LookupFunction } from "node:net";
import { PigeonholeError } from "../../base/error.js";
import { isLocalHost } from "./local-address.js";

const PORT_FIRST = /^:?(\d{1,5})((?:[/?].*)?)$/s;
const WITHOUT_SCHEME = /^(?:localhost|\[[0-9a-f:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::\d{1,5})?(?:[/?]|$)/i;

/**
 * Parses a target: `3000`, `3000/webhooks`, `localhost:3000/webhooks`, or a whole URL. Throws `invalid_argument` for
 * anything else, and for a URL with credentials or a fragment.
 */
export function parseTarget(text: string): URL {
  const trimmed = text.trim();
  // A URL parser would read a bare number as an IPv4 address.
  const [, port, rest = ""] = PORT_FIRST.exec(trimmed) ?? [];
  const spelled = port === undefined ? trimmed : `http://127.0.0.1:${port}${rest}`;
  const whole = !spelled.includes("://") && WITHOUT_SCHEME.test(spelled) ? `http://${spelled}` : spelled;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new PigeonholeError(
      "invalid_argument",
      `"${text}" is not a target: give a port, host:port/path or an http(s) URL.`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    throw new PigeonholeError(
      "invalid_argument",
      `The target at ${url.host} must have no credentials and no fragment.`,
    );
  }
  return url;
}

/** The URL to post to: a target without a path gets the captured path and query, any other is used unchanged. */
export function targetUrl(target: string, request: { path: string; query: string }): string {
  const url = parseTarget(target);
  if (url.pathname === "/" && url.search === "") {
    url.pathname = request.path;
    url.search = request.query;
  }
  return url.href;
}

/**
 * Resolves the target's name and throws `invalid_argument` if it is outside this machine and private networks. Give the
 * same `lookUp` to `sendRequest`, so that it connects to the address found here. An unknown name passes: sending
 * reports it better.
 */
export async function checkLocalTarget(target: string, lookUp?: LookupFunction): Promise<void> {
  const url = parseTarget(target);
  if (await isLocalHost(url, lookUp)) return;
  throw new PigeonholeError(
    "invalid_argument",
    `${url.hostname} is outside this machine and its private network. Captured deliveries hold personal data; --allow-remote permits that.`,
  );
}
