import { skipSpace } from "./skip-space.js";
import { stringEnd } from "./string-end.js";

/** Where the objects and arrays of a JSON text end, by their number in the order in which they begin. */
export interface ContainerIndex {
  /** Index of the character after the container. */
  ends: readonly number[];
  /** Number of the first container that begins after this one has ended. */
  next: readonly number[];
  /** Members of the container, without those of containers in it. */
  counts: readonly number[];
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

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, NINE, POINT, LOWER_E, LOWER_CASE] = [0x30, 0x39, 0x2e, 0x65, 0x20];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

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

/** Goes over a text by the grammar of JSON until it breaks it. */
class Indexer {
  readonly #text: string;
  readonly #ends: number[] = [];
  readonly #next: number[] = [];
  readonly #counts: number[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ContainerIndex {
    this.#readValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
    return { ends: this.#ends, next: this.#next, counts: this.#counts };
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
    const number = this.#ends.length;
    this.#ends.push(0);
    this.#next.push(0);
    this.#counts.push(0);
    const count = this.#readMembers(isObject, depth);
    this.#at += 1;
    this.#ends[number] = this.#at;
    this.#next[number] = this.#ends.length;
    this.#counts[number] = count;
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
    const plainEnd = plainStringEnd(this.#text, start);
    const end = plainEnd ?? stringEnd(this.#text, start);
    if (end === undefined) throw new Unexpected(start, "The string that begins here has no end");
    if (plainEnd === undefined && !isJson(this.#text.slice(start, end))) {
      throw new Unexpected(start, "The string that begins here has a character or an escape that JSON does not allow");
    }
    this.#at = end;
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

/** Index of the character after a string without escapes and control characters; undefined for another one. */
function plainStringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    // Past the end there is no number to compare.
    if (!(code >= 0x20) || code === BACKSLASH) return undefined;
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function locate(text: string, { at, message }: Unexpected): JsonProblem {
  const before = text.slice(0, at).split("\n");
  return { message, at, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
