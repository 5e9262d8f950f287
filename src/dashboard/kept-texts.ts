import { createHash } from "node:crypto";

/** Texts of events as they are shown. Those that were not asked for the longest go first. */
export class KeptTexts {
  readonly #most: number;
  readonly #shown = new Map<string, string>();
  #characters = 0;

  /** @param most Characters of all texts together. */
  constructor(most: number) {
    this.#most = most;
  }

  get(id: string, text: string): string | undefined {
    const key = digestOf(id, text);
    const shown = this.#shown.get(key);
    if (shown === undefined) return undefined;
    this.#shown.delete(key);
    this.#shown.set(key, shown);
    return shown;
  }

  set(id: string, text: string, shown: string): void {
    const key = digestOf(id, text);
    if (this.#shown.has(key)) return;
    this.#shown.set(key, shown);
    this.#characters += key.length + shown.length;
    for (const [oldest, value] of this.#shown) {
      if (this.#characters <= this.#most) return;
      this.#shown.delete(oldest);
      this.#characters -= oldest.length + value.length;
    }
  }
}

/** Of texts in their order: short, whatever their length. */
export function digestOf(...texts: readonly string[]): string {
  const hash = createHash("sha256");
  // Each unit of a text counts, also halves of pairs.
  for (const text of texts) hash.update(`${text.length} ${text}`, "utf16le");
  return hash.digest("base64");
}
