import { PigeonholeError } from "../../base/error.js";
import type { Option } from "../../base/options.js";

const MAX_URL = 2048;
const MAX_LENGTH = 253;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** The domain that a text names: itself, or that of an address or a URL, in lower case. Undefined for anything else. */
export function readDomain(text: string): string | undefined {
  const given = text.trim();
  const host = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(given)?.[1] ?? given.slice(given.lastIndexOf("@") + 1);
  const url = `http://${host}`;
  if (given.length > MAX_URL || !URL.canParse(url)) return undefined;
  // The parser writes letters of other alphabets as DNS has them.
  const { hostname } = new URL(url);
  const domain = hostname.replace(/\.$/, "");
  return isDomainName(domain) ? domain : undefined;
}

/** True for a domain of two labels or more, whatever its case; not for an IP address. */
export function isDomainName(text: string): boolean {
  const labels = text.toLowerCase().split(".");
  return text.length <= MAX_LENGTH && labels.length > 1 && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? "");
}

function isLabel(label: string): boolean {
  return LABEL.test(label);
}

/** An option that must be a domain; it is read in lower case. */
export const domainName: Option<string, string> & { readonly required: true } = {
  required: true,
  read(option, value) {
    const domain = typeof value === "string" ? value.toLowerCase() : "";
    if (isDomainName(domain)) return domain;
    throw new PigeonholeError("invalid_option", `${option} must be a domain, got ${JSON.stringify(value)}.`);
  },
};
