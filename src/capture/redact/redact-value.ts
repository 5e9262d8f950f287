import { isIP } from "node:net";
import { type FakeValues, maskText } from "./fake-values.js";
import { type Pieces, PieceMeter, finish } from "./pieces.js";

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
/** A long text is redacted part by part. Where there is a space, no address is cut. */
const PART_LENGTH = 4096;
const PART = /[^]{1,4096}\S{0,1024}/g;
/** What a value costs beside its characters: there may be an address in it, whose stand-in takes long. */
const LEAF_COST = 128;

/** A value without personal data. Keys, types and lengths of lists stay. */
export function redactValue(value: unknown, key: string, rules: RedactionRules): unknown {
  return finish(redactInPieces(value, key, rules));
}

/** The same in pieces. Throws a RangeError for a value that is nested too deeply. */
export function* redactInPieces(value: unknown, key: string, rules: RedactionRules): Pieces<unknown> {
  const meter = new PieceMeter();
  const redacted = yield* redactWith(meter, value, key, rules);
  yield meter.take();
  return redacted;
}

function* redactWith(meter: PieceMeter, value: unknown, key: string, rules: RedactionRules): Pieces<unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value as unknown[]) items.push(yield* redactWith(meter, item, key, rules));
    return items;
  }
  if (typeof value === "object" && value !== null) {
    const fields: [string, unknown][] = [];
    for (const [name, field] of Object.entries(value))
      fields.push([hideAddresses(name, rules), yield* redactWith(meter, field, name, rules)]);
    return Object.fromEntries(fields) as unknown;
  }
  if (typeof value === "string" && value.length > PART_LENGTH && !isToken(value, key))
    return yield* redactLongText(value, rules);
  if (meter.add(LEAF_COST + (typeof value === "string" ? value.length : 0))) yield meter.take();
  return redactLeaf(value, key, rules);
}

/** A long text that is no id, no date and no name of a field: all but its addresses is hidden, however it is cut. */
function* redactLongText(text: string, rules: RedactionRules): Pieces<string> {
  if (rules.strict) return yield* maskInPieces(text, true);
  const meter = new PieceMeter();
  let redacted = "";
  for (const [part] of text.matchAll(PART)) {
    for (const [index, each] of partsAroundAddresses(part).entries()) {
      if (meter.add(each.length + LEAF_COST)) yield meter.take();
      redacted += index % 2 === 0 ? maskText(each, false) : rules.fakes.address(each);
    }
  }
  yield meter.take();
  return redacted;
}

/** {@link maskText} in pieces. */
export function* maskInPieces(text: string, hideMarks: boolean): Pieces<string> {
  let masked = "";
  for (const [part] of text.matchAll(PART)) {
    masked += maskText(part, hideMarks);
    yield part.length;
  }
  return masked;
}

/** {@link redactValue} of a value that holds no others. */
export function redactLeaf(value: unknown, key: string, rules: RedactionRules): unknown {
  if (typeof value === "string") return redactText(value, key, rules);
  if (typeof value !== "number") return value;
  if (NUMBER_TOKEN_KEY.test(key)) return 0;
  return rules.strict && !KIND_KEY.test(key) ? redactNumber(value) : value;
}

const isToken = (text: string, key: string): boolean => TOKEN_KEY.test(key) || TOKEN.test(text);

function redactText(text: string, key: string, rules: RedactionRules): string {
  const { fakes, strict } = rules;
  if (text === "") return text;
  if (isToken(text, key)) return DROPPED;
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
  return redactAround(text, rules, (part) => maskText(part, false));
}

/** Addresses within a text become their stand-ins; `hide` changes what is between them. */
function redactAround(text: string, { fakes }: RedactionRules, hide: (part: string) => string): string {
  const parts = partsAroundAddresses(text);
  return parts.map((part, index) => (index % 2 === 1 ? fakes.address(part) : part === "" ? "" : hide(part))).join("");
}

/** A text cut before and behind each address in it: each second part is one. */
export function partsAroundAddresses(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  for (const match of text.matchAll(ADDRESS)) {
    parts.push(text.slice(at, match.index), match[0]);
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
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
