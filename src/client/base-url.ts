import { PigeonholeError } from "../base/error.js";

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * The base URL without a slash at its end. Throws `invalid_option` unless it is https, or http on this machine, without
 * credentials, query and fragment.
 */
export function resolveBaseUrl(baseUrl: string): string {
  const refuse = (what: string): never => {
    throw new PigeonholeError("invalid_option", `baseUrl ${what}`);
  };
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    return refuse("is not a URL. Is the environment variable set?");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("must be an https URL.");
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    return refuse("must be https: over http the API key would be readable on the way. http is for localhost only.");
  }
  if (url.username !== "" || url.password !== "") return refuse("must not hold credentials; use apiKey.");
  if (url.search !== "" || url.hash !== "") return refuse("must not have a query or a fragment.");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** True for a resolved base URL on this machine: what answers there is an emulator, or a way to one. */
export function isOnThisMachine(baseUrl: string): boolean {
  return LOOPBACK.test(new URL(baseUrl).hostname);
}
