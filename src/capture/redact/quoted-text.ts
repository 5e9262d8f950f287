import { maskText } from "./fake-values.js";
import { type RedactionRules, redactAround, redactValue } from "./redact-value.js";

/** Longer texts are never kept by the redaction. */
const MAX_KEPT_TEXT = 320;
/** Of longer texts, short words are too common to say anything. */
const MAX_SHORT_TEXT = 80;
const MIN_WORD = 4;
/** A name can be as short. */
const MIN_NAME = 2;
const WORD = /\p{L}[\p{L}\p{M}]*|\p{N}+/gu;

/** Ordinary words of errors, which say nothing of a person where they stand alone. */
const PLAIN_WORDS = new Set(
  `an and are argument array at be body but by cannot code connect connection could data error event expected failed
  failure field for found from function got handler has have in input invalid is it json key message missing must no not
  null number object of on or order position properties property read reading received refused request required
  response server should status string text that the this timed timeout to token type undefined unexpected unknown
  valid value was with without`.split(/\s+/),
);

/**
 * Makes a function that hides in texts, such as errors, what they quote of a value and what the redaction of that value
 * would remove: whole texts, and words, also cut ones, in any case of their letters. Addresses become stand-ins.
 * Throws a RangeError for a value that is nested too deeply.
 */
export function hideQuotesOf(value: unknown, rules: RedactionRules): (text: string) => string {
  const removed = removedTexts(value, "", rules).map((text) => text.toLowerCase());
  const whole = removed
    .filter(({ length }) => length >= MIN_WORD && length <= MAX_KEPT_TEXT)
    .toSorted((one, other) => other.length - one.length);
  const names = new Set(
    removed.filter(({ length }) => length <= MAX_SHORT_TEXT).flatMap((text) => text.match(WORD) ?? []),
  );
  // As JSON too: errors often quote that.
  const all = removed.flatMap((text) => [text, JSON.stringify(text)]).join("\n");
  const isQuoted = (word: string): boolean => {
    if (word.length < MIN_NAME || PLAIN_WORDS.has(word)) return false;
    return names.has(word) || (word.length >= MIN_WORD && all.includes(word));
  };
  const hide = (text: string): string => {
    const lower = text.toLowerCase();
    const left = whole.filter((each) => lower.includes(each)).reduce(maskAll, text);
    return left.replaceAll(WORD, (word) => (isQuoted(word.toLowerCase()) ? maskText(word, false) : word));
  };
  return (text) => redactAround(text, rules, hide);
}

/** `sought` is in lower case. */
function maskAll(text: string, sought: string): string {
  const lower = text.toLowerCase();
  // Very few letters change their length with their case; words are looked for behind this.
  if (lower.length !== text.length) return text;
  let masked = "";
  let at = 0;
  for (let place = lower.indexOf(sought); place !== -1; place = lower.indexOf(sought, at)) {
    masked += text.slice(at, place) + maskText(text.slice(place, place + sought.length), false);
    at = place + sought.length;
  }
  return masked + text.slice(at);
}

/** The texts and numbers within a value that the redaction does not leave as they are. */
function removedTexts(value: unknown, key: string, rules: RedactionRules): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => removedTexts(item, key, rules));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, field]) => removedTexts(field, name, rules));
  }
  if (typeof value !== "string" && typeof value !== "number") return [];
  const isLong = typeof value === "string" && value.length > MAX_KEPT_TEXT;
  return isLong || redactValue(value, key, rules) !== value ? [String(value)] : [];
}
