import { replaceEscaped, unescapeWords } from "./escaped-words.js";
import { maskText } from "./fake-values.js";
import { type RedactionRules, redactAround, redactValue } from "./redact-value.js";

/** Longer texts are never kept by the redaction. */
const MAX_KEPT_TEXT = 320;
/** Of longer texts, short words are too common to say anything. */
const MAX_SHORT_TEXT = 80;
const MIN_WORD = 4;
/** A name can be as short. */
const MIN_NAME = 2;
/** Shorter ones are also parts of other words. */
const MIN_JOINED = 5;
const MAX_JOINED = 40;
/** Of base64, in both alphabets: enough for one word. */
const BASE64 = /[\w+/-]{6,}={0,2}/g;
const WORD = /\p{L}[\p{L}\p{M}]*|\p{N}+/gu;
/** A word within a joined one, as in camel case. */
const HUMP = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+/gu;

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
 * would remove: whole texts, and words, also cut and joined ones, in any case of their letters, base64 of them, and
 * their escapes as in URLs and JSON. Addresses become stand-ins. Throws a RangeError for a value that is nested too
 * deeply.
 */
export function hideQuotesOf(value: unknown, rules: RedactionRules): (text: string) => string {
  const written = removedTexts(value, "", rules);
  const removed = [...new Set([...written, ...written.map(unescapeWords)])].map((text) =>
    text.normalize().toLowerCase(),
  );
  const whole = removed
    .filter(({ length }) => length >= MIN_WORD && length <= MAX_KEPT_TEXT)
    .toSorted((one, other) => other.length - one.length);
  const isQuoted = findQuotedWords(removed);
  const hideWords = (text: string): string => {
    const lower = text.toLowerCase();
    const left = whole.filter((each) => lower.includes(each)).reduce(maskAll, text);
    return left.replaceAll(WORD, (word) => (isQuoted(word) ? maskText(word, false) : word));
  };
  const hidePlain = (text: string): string => redactAround(text, rules, hideWords);
  const hideBase64 = (run: string): string => {
    const decoded = decodeBase64(run);
    if (decoded !== undefined && hidePlain(decoded) !== decoded) return maskText(run, false);
    // The slash may be one of a path.
    return run.includes("/") ? run.split("/").map(hideBase64).join("/") : run;
  };
  const hideAll = (text: string): string => hidePlain(text.replaceAll(BASE64, hideBase64));
  const hideEscaped = (run: string, says: string): string => (hideAll(says) === says ? run : maskText(run, false));
  // An accent is one character or two; texts may have it in either way.
  return (text) => hideAll(replaceEscaped(text.normalize(), hideEscaped));
}

/** Makes a function that says whether a word of a text is of the texts, which are in lower case. */
function findQuotedWords(texts: readonly string[]): (word: string) => boolean {
  const words = texts.filter(({ length }) => length <= MAX_SHORT_TEXT).map((text) => text.match(WORD) ?? []);
  const names = new Set(words.flat());
  // As JSON too: errors often quote that. And without what is between the words, as in an identifier.
  const joined = words.map((each) => each.join(""));
  const all = [...texts.flatMap((text) => [text, JSON.stringify(text)]), ...joined].join("\n");
  const hasPart = findParts(
    [...names, ...joined].filter((part) => part.length >= MIN_JOINED && !PLAIN_WORDS.has(part)),
  );
  const isQuoted = (word: string): boolean => {
    if (word.length < MIN_NAME || PLAIN_WORDS.has(word)) return false;
    return names.has(word) || (word.length >= MIN_WORD && all.includes(word)) || hasPart(word);
  };
  return (word) => {
    if (isQuoted(word.toLowerCase())) return true;
    const humps = word.match(HUMP) ?? [];
    return humps.length > 1 && humps.some((hump) => isQuoted(hump.toLowerCase()));
  };
}

/** Makes a function that says whether one of the parts is in a word. There may be far more parts than words. */
function findParts(parts: readonly string[]): (word: string) => boolean {
  const all = new Set(parts);
  const heads = new Set(parts.map((part) => part.slice(0, MIN_JOINED)));
  return (word) => {
    for (let start = 0; start <= word.length - MIN_JOINED; start += 1) {
      if (!heads.has(word.slice(start, start + MIN_JOINED))) continue;
      const last = Math.min(start + MAX_JOINED, word.length);
      for (let end = start + MIN_JOINED; end <= last; end += 1) if (all.has(word.slice(start, end))) return true;
    }
    return false;
  };
}

/** Undefined for what is no text in base64, such as a long word. The last letter may be cut. */
function decodeBase64(run: string): string | undefined {
  const text = Buffer.from(run, "base64").toString();
  return /[\uFFFD\p{Cc}]/u.test(text.replaceAll(/\s|\uFFFD$/gu, "")) ? undefined : text.normalize();
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
