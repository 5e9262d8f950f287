import { PigeonholeError } from "../base/error.js";

/**
 * The URL to give to the service: an origin gets the capture path, a URL with a path stays. Throws `invalid_option`.
 */
export function withCapturePath(publicUrl: string, path: string): string {
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new PigeonholeError("invalid_option", `publicUrl must be an https URL, got "${publicUrl}".`);
  }
  if (url.pathname === "/") url.pathname = path;
  return url.href;
}
