import { PigeonholeError } from "../../base/error.js";
import type { Option } from "../../base/options.js";
import { domainName } from "../../contract/allowlists.js";

/** An address of a mail with the name before it. */
export interface NamedAddress {
  address: string;
  /** Null without one. */
  name: string | null;
}

/** Addresses with their names. A comma separates, inside a name too. */
export function readNamedAddresses(given: readonly string[]): NamedAddress[] {
  return given
    .flatMap((text) => text.split(","))
    .map(readNamedAddress)
    .filter(({ address }) => address !== "");
}

/** Addresses without their names. */
export function bareAddresses(given: readonly string[]): string[] {
  return readNamedAddresses(given).map(({ address }) => address);
}

function readNamedAddress(text: string): NamedAddress {
  const at = text.lastIndexOf("<");
  const [, address] = /^<([^<>]*)>\s*$/.exec(text.slice(at)) ?? [];
  if (at === -1 || address === undefined) return { address: text.trim(), name: null };
  const name = text.slice(0, at).replaceAll('"', "").trim();
  return { address: address.trim(), name: name === "" ? null : name };
}

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
