import { type Pieces, PieceMeter } from "./pieces.js";

/** Of so many letters, a digest says whether a text can have them. */
const GRAM = 4;
const DIGESTS = 1 << 16;
/** Passing over a character, and comparing a word with a place, in characters that are read with care. */
const PASS_COST = 1 / 8;
const COMPARE_COST = 1 / 2;

/** Digests of what was before, and one letter more. It forgets all but the last {@link GRAM} letters. */
function nextDigest(digest: number, code: number): number {
  return ((digest << 4) ^ (Math.imul(code, 0x9e37_79b1) >>> 12)) & (DIGESTS - 1);
}

/** Says quickly of most texts that they are in none of some others. */
export class GramFilter {
  readonly #seen = new Uint8Array(DIGESTS);

  add(text: string): void {
    let digest = 0;
    for (let at = 0; at < text.length; at += 1) {
      digest = nextDigest(digest, text.charCodeAt(at));
      if (at >= GRAM - 1) this.#seen[digest] = 1;
    }
  }

  /** False only for a text that is in none. True for those of fewer than four letters. */
  mayHold(text: string): boolean {
    let digest = 0;
    for (let at = 0; at < text.length; at += 1) {
      digest = nextDigest(digest, text.charCodeAt(at));
      if (at >= GRAM - 1 && this.#seen[digest] === 0) return false;
    }
    return true;
  }
}

/**
 * Those of the words, of four letters or more, that are in one of the texts. It passes over the texts once, however
 * many words there are.
 */
export function* findWordsWithin(words: Iterable<string>, texts: readonly string[]): Pieces<Set<string>> {
  const sought = new Map<number, Set<string>>();
  for (const word of words) {
    const digest = headDigest(word);
    const heads = sought.get(digest);
    if (heads === undefined) sought.set(digest, new Set([word]));
    else heads.add(word);
  }
  const found = new Set<string>();
  const meter = new PieceMeter();
  for (const text of texts) {
    let digest = 0;
    for (let at = 0; at < text.length && sought.size > 0; at += 1) {
      digest = nextDigest(digest, text.charCodeAt(at));
      const heads = at >= GRAM - 1 ? sought.get(digest) : undefined;
      if (meter.add(heads === undefined ? PASS_COST : COMPARE_COST * heads.size)) yield meter.take();
      if (heads === undefined) continue;
      for (const word of heads) {
        if (!text.startsWith(word, at - GRAM + 1)) continue;
        found.add(word);
        heads.delete(word);
      }
      if (heads.size === 0) sought.delete(digest);
    }
  }
  yield meter.take();
  return found;
}

function headDigest(word: string): number {
  let digest = 0;
  for (let at = 0; at < GRAM; at += 1) digest = nextDigest(digest, word.charCodeAt(at));
  return digest;
}
