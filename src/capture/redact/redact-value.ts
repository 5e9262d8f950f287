import { isIP } from "node:net";
import { type FakeValues, maskText } from "./fake-values.js";

/** What one profile does to single values. */
export interface RedactionRules {
  fakes: FakeValues;
  /** Also hides identifiers within `data`, numbers, punctuation in texts and words that are not from a closed list. */
  strict: boolean;
}

/** A name in quotes may hold anything; the quotes may be escaped, as in JSON. */
const QUOTED_NAME = /"(?:[^"\\\r\n]|\\.){1,64}?\\?"/;
/** An apostrophe is part of a name, but not the one in front of it: that quotes the address. */
const NAME = /[^\s@<>"'(),;:[\]](?:[^\s@<>"'(),;:[\]]|(?<!=)'){0,63}/;
const DOMAIN_OR_IP = /(?:[^\s@<>"'(),;:[\]]{1,255}\.[^\s@<>"'(),;:[\].!?]{1,63}|\[[^\s@[\]]{1,64}\])/;
/** Deliberately wide: whatever looks like an address is treated as one. Bounded, since texts can be long. */
const ADDRESS = new RegExp(`(?:${QUOTED_NAME.source}|${NAME.source})@${DOMAIN_OR_IP.source}`, "g");
/** A longer text with an address in it is a message, not a header field. */
const MAX_ADDRESS_LINE = 320;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]{5,18}(?:Z|[+-]\d{2}:?\d{2})?)?$/;
/** Long and with a digit, so that `ada_lovelace` does not match. */
const ID =
  /^(?:[a-z]{1,12}_(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{24,64})$/;
const DOMAIN = /^(?:[a-z0-9_-]+\.)+[a-z]{2,}$/i;
const TOKEN_KEY = /token|secret|passw|authori[sz]ation|api_?key|private_?key|credential|cookie|signature|session/i;
/** Such as a one-time code. A count of tokens or sessions is not one. */
const NUMBER_TOKEN_KEY = /(?:token|secret|passw(?:or)?d|passcode)$/i;
const TOKEN = /^(?:whsec_|sk_|pk_|rk_|Bearer |Basic |eyJ[\w-]+\.)/;
const ID_KEY = /(?:^|_)ids?$|Ids?$/;
/** Fields whose values are words of the service, not of a person. */
const KIND_KEY =
  /^(?:type|kind|status|state|reason|code|stream|direction|usage|outcome|event|result|contentType|mimeType|enc(?:oding)?|record_?type)$/;
const KIND = /^[A-Za-z0-9][\w./+-]{0,63}$/;
const DROPPED = "[dropped]";
/** Without personal data. Keys, types and lengths of lists stay. Throws RangeError if it is nested too deeply. */
export function redactValue(value: unknown, key: string, rules: RedactionRules): unknown {
  if (Array.isArray(value)) return value.map((item) => redactValue(item, key, rules));
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => [
      hideAddresses(name, rules),
      redactValue(field, name, rules),
    ]);
    return Object.fromEntries(fields) as unknown;
  }
  if (typeof value === "string") return redactText(value, key, rules);
  if (typeof value !== "number") return value;
  if (NUMBER_TOKEN_KEY.test(key)) return 0;
  return rules.strict && !KIND_KEY.test(key) ? redactNumber(value) : value;
}

function redactText(text: string, key: string, rules: RedactionRules): string {
  const { fakes, strict } = rules;
  if (text === "") return text;
  if (TOKEN_KEY.test(key) || TOKEN.test(text)) return DROPPED;
  if (DATE.test(text)) return text;
  if (isIP(text) !== 0) return fakes.ip(text);
  if (ID.test(text)) return strict ? fakes.id(text) : text;
  if (/domain|host/i.test(key) && DOMAIN.test(text)) return fakes.domain(text);
  if (text.search(ADDRESS) !== -1) return redactWithAddress(text, rules);
  if (ID_KEY.test(key) && /^[\w-]{1,100}$/.test(text)) return strict ? fakes.id(text) : text;
  if (KIND_KEY.test(key) && KIND.test(text)) return text;
  return maskText(text, strict);
}

/** A name with an address still matches the address alone. */
function redactWithAddress(text: string, rules: RedactionRules): string {
  if (rules.strict && text.length > MAX_ADDRESS_LINE) return maskText(text, true);
  let redacted = "";
  let at = 0;
  for (const match of text.matchAll(ADDRESS)) {
    redacted += maskText(text.slice(at, match.index), false) + rules.fakes.address(match[0]);
    at = match.index + match[0].length;
  }
  return redacted + maskText(text.slice(at), false);
}

/** A word of the service or of the developer, such as a key, without the addresses in it. */
export function hideAddresses(word: string, { fakes }: RedactionRules): string {
  return word.replaceAll(ADDRESS, (address) => fakes.address(address));
}

/** The same number of digits, so that magnitudes stay. */
function redactNumber(value: number): number {
  if (Math.abs(value) < 10) return value;
  return Math.sign(value) * 10 ** Math.floor(Math.log10(Math.abs(value)));
}
