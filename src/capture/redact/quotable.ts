import { unescapeWords } from "./escaped-words.js";
import type { FakeValues } from "./fake-values.js";
import { foldCase } from "./fold-case.js";
import { type Pieces, PieceMeter } from "./pieces.js";
import { type RedactionRules, redactLeaf } from "./redact-value.js";
import { UNSPACED, UnspacedNames } from "./unspaced-words.js";

/** Longer texts are never kept by the redaction. */
const MAX_KEPT_TEXT = 320;
/** Of longer texts, short words are too common to say anything. */
const MAX_SHORT_TEXT = 80;
export const MIN_WORD = 4;
/** Shorter ones are also parts of other words. */
export const MIN_JOINED = 5;
/** Where a script has no spaces, its words end where letters of another begin. */
export const WORD = new RegExp(
  String.raw`${UNSPACED}(?:${UNSPACED}|\p{M})*|(?!${UNSPACED})\p{L}(?:(?!${UNSPACED})[\p{L}\p{M}])*|\p{N}+`,
  "gu",
);
/** Of a long text: no word and no escape is cut. */
const PART = /[^]{1,4096}(?:\S|(?<==)\r?\n)*/g;
/** What a look at a text costs beside its characters. */
export const TEXT_COST = 16;

/** Ordinary words of errors, which say nothing of a person where they stand alone. */
export const PLAIN_WORDS = new Set(
  `an and are argument array at be body but by cannot code connect connection could data error event expected failed
  failure field for found from function got handler has have in input invalid is it json key message missing must no not
  null number object of on or order position properties property read reading received refused request required
  response server should status string text that the this timed timeout to token type undefined unexpected unknown
  valid value was with without`.split(/\s+/),
);

/** Only whether a text is removed is of interest here: stand-ins take long to make. */
const NO_FAKES: FakeValues = { address: () => "", domain: () => "", ip: () => "", id: () => "" };

/** What a value has that texts may quote; all as {@link foldCase} makes it. */
export interface Quotable {
  /** Neither too short nor too long to be looked for as a whole. */
  whole: ReadonlySet<string>;
  /** Words of short texts. */
  names: ReadonlySet<string>;
  /** Names that are looked for within words. */
  unspaced: UnspacedNames;
  /** Names, and the words of a text joined, as in an identifier, that are long enough to be looked for in words. */
  parts: ReadonlySet<string>;
  /** Beginnings of the parts. There may be far more parts than words. */
  heads: ReadonlySet<string>;
  /** In which words of a text are looked for. */
  searched: readonly string[];
}

/** What texts may quote of a value that its redaction would remove. */
export function* readQuotable(value: unknown, rules: RedactionRules): Pieces<Quotable> {
  const removed = yield* removedTexts(value, { ...rules, fakes: NO_FAKES });
  const whole = new Set<string>();
  const names = new Set<string>();
  const unspaced = new UnspacedNames();
  const parts = new Set<string>();
  const searched: string[] = [];
  const meter = new PieceMeter();
  for (const text of removed) {
    if (meter.add(text.length + TEXT_COST)) yield meter.take();
    if (text.length >= MIN_WORD && text.length <= MAX_KEPT_TEXT) whole.add(text);
    searched.push(text);
    // As JSON too: errors often quote that.
    const json = JSON.stringify(text);
    if (json.length > text.length + 2) searched.push(json);
    if (text.length > MAX_SHORT_TEXT) continue;
    const words: readonly string[] = text.match(WORD) ?? [];
    const joined = words.join("");
    searched.push(joined);
    for (const word of words) {
      names.add(word);
      unspaced.add(word);
    }
    for (const part of [...words, joined]) if (part.length >= MIN_JOINED && !PLAIN_WORDS.has(part)) parts.add(part);
  }
  yield meter.take();
  const heads = new Set([...parts].map((part) => part.slice(0, MIN_JOINED)));
  return { whole, names, unspaced, parts, heads, searched };
}

/** The texts and numbers within a value that the redaction does not leave as they are, with their case folded. */
function* removedTexts(value: unknown, rules: RedactionRules): Pieces<Set<string>> {
  const removed = new Set<string>();
  const left: [key: string, value: unknown][] = [["", value]];
  const meter = new PieceMeter();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [key, each] = next;
    if (meter.add(TEXT_COST)) yield meter.take();
    if (Array.isArray(each)) for (const item of each as unknown[]) left.push([key, item]);
    else if (typeof each === "object" && each !== null) for (const field of Object.entries(each)) left.push(field);
    if (typeof each !== "string" && typeof each !== "number") continue;
    const isLong = typeof each === "string" && each.length > MAX_KEPT_TEXT;
    const text = String(each);
    if (isLong || redactLeaf(each, key, rules) !== each) {
      removed.add(foldCase(text.normalize()));
      removed.add(foldCase((yield* unescape(text)).normalize()));
    }
    if (meter.add(text.length)) yield meter.take();
  }
  yield meter.take();
  return removed;
}

function* unescape(text: string): Pieces<string> {
  if (text.length <= MAX_KEPT_TEXT) return unescapeWords(text);
  let says = "";
  for (const [part] of text.matchAll(PART)) {
    says += unescapeWords(part);
    yield part.length;
  }
  return says;
}
