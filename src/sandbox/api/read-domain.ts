import { PigeonholeError } from "../../base/error.js";
import type { Option } from "../../base/options.js";
import { domainName } from "../../contract/allowlists.js";

const MAX_URL = 2048;

/** The domain that a text names: itself, or that of an address or a URL, in lower case. Undefined for anything else. */
export function readDomain(text: string): string | undefined {
  const given = text.trim();
  const host = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(given)?.[1] ?? given.slice(given.lastIndexOf("@") + 1);
  const url = `http://${host}`;
  if (given.length > MAX_URL || !URL.canParse(url)) return undefined;
  // The parser writes letters of other alphabets as DNS has them.
  const { hostname } = new URL(url);
  const domain = hostname.replace(/\.$/, "");
  return isDomain(domain) ? domain : undefined;
}

/** True for a domain of two labels or more, whatever its case; not for an IP address. */
export function isDomain(text: string): boolean {
  return domainName.safeParse(text).success;
}

/** An option that must be a domain; it is read in lower case. */
export const domainOption: Option<string, string> & { readonly required: true } = {
  required: true,
  read(option, value) {
    const domain = typeof value === "string" ? value.toLowerCase() : "";
    if (isDomain(domain)) return domain;
    throw new PigeonholeError("invalid_option", `${option} must be a domain, got ${JSON.stringify(value)}.`);
  },
};
