import { maskText } from "./fake-values.js";
import { type Pieces, PieceMeter } from "./pieces.js";

/** So many digits in a row are of the same number, whatever is in front of them: of a phone number, the last ones. */
const DIGITS = 7;
/** Between groups of digits, as in `+1 (415) 555-2671`. */
const SEPARATOR = /[\s()./\u2010-\u2013-]/;
const MAX_SEPARATORS = 3;
/** Passing over a character, in characters that are read with care. */
const PASS_COST = 1 / 8;
const [ZERO, NINE] = [48, 57];

/** The last digits that were read, whatever separates their groups. */
class LastDigits {
  value = 0;
  #count = 0;
  #separators = 0;

  /** True for a digit that ends so many of them. */
  read(code: number): boolean {
    if (code >= ZERO && code <= NINE) {
      this.value = (this.value % 10 ** (DIGITS - 1)) * 10 + code - ZERO;
      this.#count += 1;
      this.#separators = 0;
      return this.#count >= DIGITS;
    }
    if (this.#count === 0) return false;
    this.#separators += 1;
    if (this.#separators > MAX_SEPARATORS || !SEPARATOR.test(String.fromCharCode(code))) this.#count = 0;
    return false;
  }
}

/** From the first character to behind the last one. */
type Range = readonly [start: number, end: number];

/** Where texts quote long numbers of others, however their digits are grouped; for each text in its order. */
export function* findQuotedNumbers(texts: readonly string[], others: readonly string[]): Pieces<Range[][]> {
  const sought = new Set<number>();
  yield* readNumbers(texts, (value) => sought.add(value));
  const found = new Set<number>();
  if (sought.size > 0) yield* readNumbers(others, (value) => sought.has(value) && found.add(value));
  const ranges = texts.map((): Range[] => []);
  if (found.size > 0)
    yield* readNumbers(texts, (value, range, index) => found.has(value) && ranges[index]?.push(range));
  return ranges;
}

type Visit = (value: number, range: Range, index: number) => void;

function* readNumbers(texts: readonly string[], visit: Visit): Pieces<void> {
  const meter = new PieceMeter();
  for (const [index, text] of texts.entries()) {
    const last = new LastDigits();
    const places: number[] = [];
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code >= ZERO && code <= NINE) places.push(at);
      if (last.read(code)) visit(last.value, [places.at(-DIGITS) ?? at, at + 1], index);
      if (meter.add(PASS_COST)) yield meter.take();
    }
  }
  yield meter.take();
}

/** The text with other letters and digits in the ranges, which are in their order and may overlap. */
export function maskRanges(text: string, ranges: readonly Range[]): string {
  let masked = "";
  let at = 0;
  for (const [start, end] of ranges) {
    masked += text.slice(at, start) + maskText(text.slice(Math.max(at, start), end), false);
    at = end;
  }
  return masked + text.slice(at);
}
