/** A JSON text as a tree that keeps the source: numbers as their digits, members in order, repeated names too. */
export type JsonNode =
  | { kind: "object"; members: { name: string; node: JsonNode }[] }
  | { kind: "array"; members: { name: string; node: JsonNode }[] }
  | { kind: "string"; text: string; value: string }
  | { kind: "number" | "boolean" | "null"; text: string };

export interface JsonProblem {
  message: string;
  /** Index of the character. */
  at: number;
  /** From 1. */
  line: number;
  column: number;
}

export type ParsedJson = { ok: true; node: JsonNode } | { ok: false; problem: JsonProblem };

/** Deeper than any envelope. A deeper text is shown unparsed. */
const MAX_DEPTH = 400;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** What can make the value of a string differ from its text, or is not allowed in one. */
const UNUSUAL = /[\\\p{Cc}]/u;
const WORD = /true|false|null/y;

/** Parses JSON as strictly as the receiver, and reports where it stops being JSON. */
export function parseJson(text: string): ParsedJson {
  const reader = new Reader(text);
  try {
    const node = reader.readValue(0);
    reader.expectEnd();
    return { ok: true, node };
  } catch (error) {
    if (error instanceof Unexpected) return { ok: false, problem: locate(text, error) };
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

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readValue(depth: number): JsonNode {
    this.#skipSpace();
    if (depth > MAX_DEPTH) throw new Unexpected(this.#at, `Nested deeper than ${MAX_DEPTH} levels`);
    if (this.#eat("{")) return { kind: "object", members: this.#readMembers("}", depth, () => this.#readName()) };
    if (this.#eat("[")) {
      let index = 0;
      return { kind: "array", members: this.#readMembers("]", depth, () => String(index++)) };
    }
    const string = this.#readString();
    if (string !== null) return { kind: "string", ...string };
    const word = this.#take(WORD);
    if (word !== "") return { kind: word === "null" ? "null" : "boolean", text: word };
    const number = this.#take(NUMBER);
    if (number !== "") return { kind: "number", text: number };
    throw this.#unexpected("a value");
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
  }

  #readMembers(close: string, depth: number, readName: () => string): { name: string; node: JsonNode }[] {
    const members: { name: string; node: JsonNode }[] = [];
    this.#skipSpace();
    if (this.#eat(close)) return members;
    for (;;) {
      const name = readName();
      members.push({ name, node: this.readValue(depth + 1) });
      this.#skipSpace();
      if (this.#eat(close)) return members;
      if (!this.#eat(",")) throw this.#unexpected(`"," or "${close}"`);
    }
  }

  #readName(): string {
    this.#skipSpace();
    const name = this.#readString();
    if (name === null) throw this.#unexpected("a name in double quotes");
    this.#skipSpace();
    if (!this.#eat(":")) throw this.#unexpected('":"');
    return name.value;
  }

  /**
   * Null if no string begins here. Written by hand, since a regular expression overflows the stack on a string of
   * megabytes.
   */
  #readString(): { text: string; value: string } | null {
    if (this.#text[this.#at] !== '"') return null;
    const end = this.#findQuote(this.#at + 1);
    const text = this.#text.slice(this.#at, end + 1);
    if (!UNUSUAL.test(text)) {
      this.#at = end + 1;
      return { text, value: text.slice(1, -1) };
    }
    try {
      const value = JSON.parse(text) as string;
      this.#at = end + 1;
      return { text, value };
    } catch {
      throw new Unexpected(
        this.#at,
        "The string that begins here has a character or an escape that JSON does not allow",
      );
    }
  }

  #findQuote(from: number): number {
    let end = this.#text.indexOf('"', from);
    while (end !== -1 && this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    if (end === -1) throw new Unexpected(this.#at, "The string that begins here has no end");
    return end;
  }

  /** Whether the character has an odd number of backslashes before it. */
  #isEscaped(at: number): boolean {
    let before = at;
    while (this.#text[before - 1] === "\\") before -= 1;
    return (at - before) % 2 === 1;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      // Space, tab, line feed, carriage return.
      if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return;
      this.#at += 1;
    }
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
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
