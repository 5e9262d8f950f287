import { maskText } from "./fake-values.js";
import { type Pieces, PieceMeter } from "./pieces.js";

/** A letter of a script that has no space between words, or, as in Korean, none behind a name. */
export const UNSPACED = String.raw`(?=\p{L})[${["Han", "Hira", "Kana", "Bopo", "Hang", "Thai", "Laoo", "Khmr", "Mymr"]
  .map((script) => String.raw`\p{scx=${script}}`)
  .join("")}]`;
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, "u");
/** A first name can be a single letter, but that alone is also part of other words. */
const MIN_LETTERS = 2;
/** Longer names are looked for as whole texts only. */
const MAX_NAME = 40;

export const isUnspaced = (word: string): boolean => STARTS_UNSPACED.test(word);

/** Names in such scripts, found by their first letter. */
export class UnspacedNames {
  readonly #names = new Set<string>();
  readonly #longest = new Map<string, number>();

  add(name: string): void {
    const first = name.charAt(0);
    if (name.length > MAX_NAME || !isUnspaced(name)) return;
    this.#names.add(name);
    this.#longest.set(first, Math.max(name.length, this.#longest.get(first) ?? 0));
  }

  /** The word without the names in it: a sentence can be one word. Names that follow each other are one. */
  *mask(word: string): Pieces<string> {
    const meter = new PieceMeter();
    let masked = "";
    let [start, end] = [0, 0];
    const take = (): string => {
      const found = word.slice(start, end);
      return found.length < MIN_LETTERS ? found : maskText(found, false);
    };
    for (let at = 0; at < word.length; at += 1) {
      const longest = this.#longest.get(word.charAt(at)) ?? 0;
      if (meter.add(longest + 1)) yield meter.take();
      const length = this.#lengthAt(word, at, longest);
      if (length === 0) continue;
      if (at > end) {
        masked += take() + word.slice(end, at);
        start = at;
      }
      end = Math.max(end, at + length);
    }
    yield meter.take();
    return masked + take() + word.slice(end);
  }

  #lengthAt(word: string, at: number, longest: number): number {
    for (let length = longest; length > 0; length -= 1) if (this.#names.has(word.slice(at, at + length))) return length;
    return 0;
  }
}
