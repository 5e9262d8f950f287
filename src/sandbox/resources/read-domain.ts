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

/** True for a domain of two labels or more in lower case; not for an IP address. */
export function isDomainName(text: string): boolean {
  const labels = text.split(".");
  return text.length <= MAX_LENGTH && labels.length > 1 && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? "");
}

function isLabel(label: string): boolean {
  return LABEL.test(label);
}
