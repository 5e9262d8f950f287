import { stringEnd } from "./container-index.js";

/** Where a text stops being JSON. */
export interface JsonProblem {
  message: string;
  /** Index of the character. */
  at: number;
  /** From 1. */
  line: number;
  column: number;
}

/** Deeper than any envelope. A deeper text is shown unparsed. */
export const MAX_JSON_DEPTH = 400;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** What may not be allowed in a string. */
const UNUSUAL = /[\\\p{Cc}]/u;
const WORD = /true|false|null/y;

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads JSON as strictly as the receiver; undefined if the text is JSON and not too deep. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  const reader = new Reader(text);
  try {
    reader.readValue(0);
    reader.expectEnd();
    return undefined;
  } catch (error) {
    if (error instanceof Unexpected) return locate(text, error);
    throw error;
  }
}

class Unexpected extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Goes over a text by the grammar of JSON until it breaks it. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readValue(depth: number): void {
    this.#skipSpace();
    if (this.#eat("{")) return this.#readMembers("}", depth + 1);
    if (this.#eat("[")) return this.#readMembers("]", depth + 1);
    if (this.#readString() || this.#take(WORD) || this.#take(NUMBER)) return;
    throw this.#unexpected("a value");
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
  }

  #readMembers(close: "}" | "]", depth: number): void {
    if (depth > MAX_JSON_DEPTH) throw new Unexpected(this.#at, `Nested deeper than ${MAX_JSON_DEPTH} levels`);
    this.#skipSpace();
    if (this.#eat(close)) return;
    for (;;) {
      if (close === "}") this.#readName();
      this.readValue(depth);
      this.#skipSpace();
      if (this.#eat(close)) return;
      if (!this.#eat(",")) throw this.#unexpected(`"," or "${close}"`);
    }
  }

  #readName(): void {
    this.#skipSpace();
    if (!this.#readString()) throw this.#unexpected("a name in double quotes");
    this.#skipSpace();
    if (!this.#eat(":")) throw this.#unexpected('":"');
  }

  /** False if no string begins here. */
  #readString(): boolean {
    if (this.#text[this.#at] !== '"') return false;
    const end = stringEnd(this.#text, this.#at);
    if (end === undefined) throw new Unexpected(this.#at, "The string that begins here has no end");
    const text = this.#text.slice(this.#at, end);
    if (UNUSUAL.test(text) && !isJson(text)) {
      throw new Unexpected(
        this.#at,
        "The string that begins here has a character or an escape that JSON does not allow",
      );
    }
    this.#at = end;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      // Space, tab, line feed, carriage return.
      if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return;
      this.#at += 1;
    }
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found !== "";
  }

  #eat(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #unexpected(wanted: string): Unexpected {
    const found = this.#text[this.#at];
    const what = found === undefined ? "the text ends" : `there is ${JSON.stringify(found)}`;
    return new Unexpected(this.#at, `Expected ${wanted}, but ${what}`);
  }
}

function locate(text: string, { at, message }: Unexpected): JsonProblem {
  const before = text.slice(0, at).split("\n");
  return { message, at, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
