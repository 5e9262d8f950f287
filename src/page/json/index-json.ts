import { skipSpace } from "./skip-space.js";

/** Where the objects and arrays of a JSON text end, by their number in the order in which they begin. */
export interface ContainerIndex {
  /** Index of the character after the container. */
  endOf(container: number): number;
  /** Number of the first container that begins after this one has ended. */
  nextAfter(container: number): number;
  /** Members of the container, without those of containers in it. */
  countOf(container: number): number;
}

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
const MAX_JSON_DEPTH = 400;

const [QUOTE, BACKSLASH, COMMA, COLON, LOWER_U] = [0x22, 0x5c, 0x2c, 0x3a, 0x75];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, NINE, POINT, LOWER_E, LOWER_CASE] = [0x30, 0x39, 0x2e, 0x65, 0x20];
const BAD_STRING = "The string that begins here has a character or an escape that JSON does not allow";
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const FOUR_HEX_DIGITS = /[\da-fA-F]{4}/y;

/** Characters after a backslash that stand for one character, by their code. */
const SHORT_ESCAPES = new Set(['"', "\\", "/", "b", "f", "n", "r", "t"].map((character) => character.charCodeAt(0)));

/**
 * Goes over a text once, as strictly as the receiver: finds where its parts end, so that none must be read to find what
 * comes after it, or where it stops being JSON. Makes no value: of millions of them few are looked at.
 */
export function indexJson(text: string): { ok: true; index: ContainerIndex } | { ok: false; problem: JsonProblem } {
  try {
    return { ok: true, index: new Indexer(text).read() };
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

/** Three numbers of each container beside each other: a text of 5 MB may have more than a million containers. */
class Containers implements ContainerIndex {
  #numbers = new Int32Array(3 * 1024);
  #length = 0;

  add(): number {
    const container = this.#length;
    this.#length += 1;
    if (3 * this.#length > this.#numbers.length) {
      const more = new Int32Array(2 * this.#numbers.length);
      more.set(this.#numbers);
      this.#numbers = more;
    }
    return container;
  }

  /** All that begin later begin after it. */
  end(container: number, end: number, count: number): void {
    this.#numbers[3 * container] = end;
    this.#numbers[3 * container + 1] = this.#length;
    this.#numbers[3 * container + 2] = count;
  }

  endOf(container: number): number {
    return this.#numbers[3 * container] ?? 0;
  }

  nextAfter(container: number): number {
    return this.#numbers[3 * container + 1] ?? 0;
  }

  countOf(container: number): number {
    return this.#numbers[3 * container + 2] ?? 0;
  }
}

/** Goes over a text by the grammar of JSON until it breaks it. */
class Indexer {
  readonly #text: string;
  readonly #containers = new Containers();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ContainerIndex {
    this.#readValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
    return this.#containers;
  }

  #readValue(depth: number): void {
    this.#skipSpace();
    const code = this.#code();
    if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#readContainer(code === OPEN_BRACE, depth + 1);
    else if (code === QUOTE) this.#readString();
    else if (!this.#takeDigits() && !this.#take(WORD) && !this.#take(NUMBER)) throw this.#unexpected("a value");
  }

  #readContainer(isObject: boolean, depth: number): void {
    this.#at += 1;
    if (depth > MAX_JSON_DEPTH) throw new Unexpected(this.#at, `Nested deeper than ${MAX_JSON_DEPTH} levels`);
    const container = this.#containers.add();
    const count = this.#readMembers(isObject, depth);
    this.#at += 1;
    this.#containers.end(container, this.#at, count);
  }

  /** Goes to the end of the container, and returns how many members it has. */
  #readMembers(isObject: boolean, depth: number): number {
    const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
    this.#skipSpace();
    if (this.#code() === close) return 0;
    for (let count = 1; ; count += 1) {
      if (isObject) this.#readName();
      this.#readValue(depth);
      this.#skipSpace();
      const code = this.#code();
      if (code === close) return count;
      if (code !== COMMA) throw this.#unexpected(`"," or "${isObject ? "}" : "]"}"`);
      this.#at += 1;
    }
  }

  #readName(): void {
    this.#skipSpace();
    if (this.#code() !== QUOTE) throw this.#unexpected("a name in double quotes");
    this.#readString();
    this.#skipSpace();
    if (this.#code() !== COLON) throw this.#unexpected('":"');
    this.#at += 1;
  }

  #readString(): void {
    const start = this.#at;
    let at = start + 1;
    for (let code = this.#text.charCodeAt(at); code !== QUOTE; code = this.#text.charCodeAt(at)) {
      if (Number.isNaN(code)) throw new Unexpected(start, "The string that begins here has no end");
      const next = code === BACKSLASH ? escapeEnd(this.#text, at) : code < 0x20 ? undefined : at + 1;
      if (next === undefined) throw new Unexpected(start, BAD_STRING);
      at = next;
    }
    this.#at = at + 1;
  }

  /** Most numbers are digits alone; false for others. */
  #takeDigits(): boolean {
    const start = this.#at;
    let end = start;
    while (isDigit(this.#text.charCodeAt(end))) end += 1;
    if (end === start || (this.#code() === ZERO && end > start + 1)) return false;
    const next = this.#text.charCodeAt(end);
    if (next === POINT || (next | LOWER_CASE) === LOWER_E) return false;
    this.#at = end;
    return true;
  }

  #skipSpace(): void {
    this.#at = skipSpace(this.#text, this.#at);
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #unexpected(wanted: string): Unexpected {
    const found = this.#text[this.#at];
    const what = found === undefined ? "the text ends" : `there is ${JSON.stringify(found)}`;
    return new Unexpected(this.#at, `Expected ${wanted}, but ${what}`);
  }
}

/** Index of the character after the escape that begins at `at`; undefined if JSON has no such escape. */
function escapeEnd(text: string, at: number): number | undefined {
  const code = text.charCodeAt(at + 1);
  if (SHORT_ESCAPES.has(code)) return at + 2;
  FOUR_HEX_DIGITS.lastIndex = at + 2;
  return code === LOWER_U && FOUR_HEX_DIGITS.test(text) ? at + 6 : undefined;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function locate(text: string, { at, message }: Unexpected): JsonProblem {
  const before = text.slice(0, at).split("\n");
  return { message, at, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
