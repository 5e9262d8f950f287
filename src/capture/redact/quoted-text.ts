import { replaceEscaped } from "./escaped-words.js";
import { maskText } from "./fake-values.js";
import { foldCase, foldWithPlaces } from "./fold-case.js";
import { GramFilter, findWordsWithin } from "./find-words.js";
import { type Pieces, PieceMeter } from "./pieces.js";
import { MIN_JOINED, MIN_WORD, PLAIN_WORDS, type Quotable, TEXT_COST, WORD, readQuotable } from "./quotable.js";
import { findQuotedNumbers, maskRanges } from "./quoted-numbers.js";
import { type RedactionRules, partsAroundAddresses } from "./redact-value.js";
import { isUnspaced } from "./unspaced-words.js";

/** A name can be as short. */
const MIN_NAME = 2;
const MAX_JOINED = 40;
/** Of base64, in both alphabets: enough for one word. */
const BASE64 = /[\w+/-]{6,}={0,2}/g;
/** A word within a joined one, as in camel case. */
const HUMP = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+/gu;

/** What making the stand-in of an address costs beside its characters. */
const ADDRESS_COST = 256;
/** Looking through a character for a whole text, beside reading it with care. */
const PASS_COST = 1 / 32;

/**
 * Hides in texts, such as errors, what they quote of a value and what the redaction of that value would remove: whole
 * texts, and words, also cut and joined ones, in any case of their letters, long numbers however they are grouped,
 * base64 of them, and their escapes as in URLs, JSON, HTML and quoted-printable. Addresses become stand-ins. It passes
 * over the value and the texts a few times, whatever they have in common.
 */
export function* hideQuotesIn(texts: readonly string[], value: unknown, rules: RedactionRules): Pieces<string[]> {
  const quotable = yield* readQuotable(value, rules);
  // An accent is one character or two; texts may have it in either way.
  const plain = texts.map((text) => text.normalize());
  const escaped = new Map<string, string>();
  for (const text of plain) {
    replaceEscaped(text, (run, says) => {
      escaped.set(run, says);
      return run;
    });
    yield text.length;
  }
  const quoting = quotingRuns(escaped, yield* hideUnescaped([...escaped.values()], quotable, rules));
  const hideRun = (run: string): string => (quoting.has(run) ? maskText(run, false) : run);
  return yield* hideUnescaped(
    plain.map((text) => replaceEscaped(text, hideRun)),
    quotable,
    rules,
  );
}

/** Without a look into escapes. */
function* hideUnescaped(texts: readonly string[], quotable: Quotable, rules: RedactionRules): Pieces<string[]> {
  const runs = yield* decodeRuns(texts);
  const quoting = quotingRuns(runs, yield* hidePlain([...runs.values()], quotable, rules));
  const hideBase64 = (run: string): string => {
    if (quoting.has(run)) return maskText(run, false);
    // The slash may be one of a path.
    return run.includes("/") ? run.split("/").map(hideBase64).join("/") : run;
  };
  const left: string[] = [];
  for (const text of texts) {
    left.push(text.replaceAll(BASE64, hideBase64));
    yield text.length;
  }
  return yield* hidePlain(left, quotable, rules);
}

/** The runs of base64, and their parts between slashes, with what they say. */
function* decodeRuns(texts: readonly string[]): Pieces<ReadonlyMap<string, string>> {
  const runs = new Map<string, string>();
  const meter = new PieceMeter();
  for (const text of texts) {
    for (const [run] of text.matchAll(BASE64)) {
      for (const part of new Set([run, ...run.split("/")])) {
        const decoded = decodeBase64(part);
        if (decoded !== undefined) runs.set(part, decoded);
        if (meter.add(part.length + TEXT_COST)) yield meter.take();
      }
    }
    if (meter.add(text.length)) yield meter.take();
  }
  yield meter.take();
  return runs;
}

/** The runs of which something is hidden in what they say; `shown` is in their order. */
function quotingRuns(says: ReadonlyMap<string, string>, shown: readonly string[]): ReadonlySet<string> {
  return new Set([...says].flatMap(([run, said], index) => (shown[index] === said ? [] : [run])));
}

/** Without a look into base64 either. */
function* hidePlain(texts: readonly string[], quotable: Quotable, rules: RedactionRules): Pieces<string[]> {
  if (texts.length === 0) return [];
  const meter = new PieceMeter();
  const split: string[][] = [];
  for (const text of texts) {
    split.push(partsAroundAddresses(text));
    if (meter.add(text.length + TEXT_COST)) yield meter.take();
  }
  const between = split.flatMap((parts) => parts.filter((_part, index) => index % 2 === 0));
  const numbers = yield* findQuotedNumbers(between, quotable.searched);
  const withoutWhole = yield* maskWhole(between, quotable);
  const masked = withoutWhole.map((text, index) => maskRanges(text, numbers[index] ?? []));
  const hideWord = yield* findQuotedWords(masked, quotable);
  const hideWords = (text: string): string => text.replaceAll(WORD, hideWord);
  const hidden: string[] = [];
  let place = 0;
  for (const parts of split) {
    let text = "";
    for (const [index, part] of parts.entries()) {
      const isAddress = index % 2 === 1;
      if (meter.add(part.length + (isAddress ? ADDRESS_COST : TEXT_COST))) yield meter.take();
      text += isAddress ? rules.fakes.address(part) : hideWords(masked[place++] ?? "");
    }
    hidden.push(text);
  }
  yield meter.take();
  return hidden;
}

/** Hides quotes of whole texts, the longest first. */
function* maskWhole(texts: readonly string[], { whole }: Quotable): Pieces<string[]> {
  const folded = texts.map(foldCase);
  const all = folded.join("\0");
  const filter = new GramFilter();
  filter.add(all);
  const meter = new PieceMeter();
  const found: string[] = [];
  for (const each of whole) {
    const mayBeIn = filter.mayHold(each);
    if (meter.add(each.length / 8 + 1 + (mayBeIn ? PASS_COST * all.length : 0))) yield meter.take();
    if (mayBeIn && all.includes(each)) found.push(each);
  }
  found.sort((one, other) => other.length - one.length);
  const masked: string[] = [];
  for (const [index, text] of texts.entries()) {
    const inOneCase = folded[index] ?? "";
    let left = text;
    for (const each of found) {
      const isIn = inOneCase.includes(each);
      if (meter.add((isIn ? 2 : 1) * PASS_COST * text.length + 1)) yield meter.take();
      if (isIn) left = maskAll(left, each);
    }
    masked.push(left);
  }
  yield meter.take();
  return masked;
}

/** Hides in a word of the texts what is quoted: all of it, or the names in it where its script has no spaces. */
function* findQuotedWords(texts: readonly string[], quotable: Quotable): Pieces<(word: string) => string> {
  const words = new Set<string>();
  const meter = new PieceMeter();
  for (const text of texts) {
    for (const [word] of text.matchAll(WORD)) for (const each of [word, ...humpsOf(word)]) words.add(foldCase(each));
    if (meter.add(text.length + TEXT_COST)) yield meter.take();
  }
  const left: string[] = [];
  const quoted = new Set<string>();
  const unspaced = new Map<string, string>();
  for (const word of words) {
    if (word.length < MIN_NAME || PLAIN_WORDS.has(word)) continue;
    if (isUnspaced(word)) unspaced.set(word, yield* quotable.unspaced.mask(word));
    else if (quotable.names.has(word) || (yield* hasPart(word, quotable))) quoted.add(word);
    if (word.length >= MIN_WORD && !quoted.has(word)) left.push(word);
    if (meter.add(TEXT_COST)) yield meter.take();
  }
  yield meter.take();
  const within = yield* findWordsWithin(left, quotable.searched);
  const isQuoted = (word: string): boolean => {
    const folded = foldCase(word);
    return quoted.has(folded) || within.has(folded);
  };
  return (word) => {
    if (isQuoted(word) || humpsOf(word).some(isQuoted)) return maskText(word, false);
    return unspaced.get(word) ?? word;
  };
}

/** The words within a joined one; none for a single one. */
function humpsOf(word: string): readonly string[] {
  const humps = word.match(HUMP) ?? [];
  return humps.length > 1 ? humps : [];
}

/** True when one of the parts is in a word. */
function* hasPart(word: string, { parts, heads }: Quotable): Pieces<boolean> {
  const meter = new PieceMeter();
  for (let start = 0; start <= word.length - MIN_JOINED; start += 1) {
    const isHead = heads.has(word.slice(start, start + MIN_JOINED));
    if (meter.add(isHead ? MAX_JOINED * MIN_JOINED : MIN_JOINED)) yield meter.take();
    if (!isHead) continue;
    const last = Math.min(start + MAX_JOINED, word.length);
    for (let end = start + MIN_JOINED; end <= last; end += 1) if (parts.has(word.slice(start, end))) return true;
  }
  yield meter.take();
  return false;
}

/** Undefined for what is no text in base64, such as a long word. The last letter may be cut. */
function decodeBase64(run: string): string | undefined {
  const text = Buffer.from(run, "base64").toString();
  return /[\uFFFD\p{Cc}]/u.test(text.replaceAll(/\s|\uFFFD$/gu, "")) ? undefined : text.normalize();
}

/** The case of `sought` is folded. */
function maskAll(text: string, sought: string): string {
  const { folded, placeOf } = foldWithPlaces(text);
  let masked = "";
  let at = 0;
  for (let found = folded.indexOf(sought); found !== -1; found = folded.indexOf(sought, found + sought.length)) {
    const [start, end] = [placeOf(found), placeOf(found + sought.length)];
    masked += text.slice(at, start) + maskText(text.slice(start, end), false);
    at = end;
  }
  return masked + text.slice(at);
}
