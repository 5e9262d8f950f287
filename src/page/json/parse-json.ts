import { indexJson, type ContainerIndex, type JsonProblem } from "./index-json.js";
import { skipSpace } from "./skip-space.js";

/** A JSON text as a tree that keeps the source: numbers as their digits, members in order, repeated names too. */
export type JsonNode =
  | JsonContainer
  | JsonString
  | { readonly kind: "number" | "boolean" | "null"; readonly text: string };

interface JsonString {
  readonly kind: "string";
  readonly text: string;
  /** Read from the text each time: that of megabytes takes longer than to show its beginning. */
  readonly value: string;
}

/** An object or array. */
export interface JsonContainer {
  readonly kind: "object" | "array";
  /** Number of members. */
  readonly count: number;
  /** Read from the text as far as they are looked at, and again each time. */
  readonly members: Iterable<JsonMember>;
}

/** A value with its name, or its index in an array. */
export interface JsonMember {
  readonly name: string;
  readonly node: JsonNode;
}

export type ParsedJson = { ok: true; node: JsonNode } | { ok: false; problem: JsonProblem };

/** Parses JSON as strictly as the receiver, or reports where it stops being JSON. */
export function parseJson(text: string): ParsedJson {
  const indexed = indexJson(text);
  if (!indexed.ok) return indexed;
  return { ok: true, node: new Source(text, indexed.index).readValue(skipSpace(text, 0), 0).node };
}

/** Where reading goes on. */
interface ReadValue {
  node: JsonNode;
  end: number;
  /** Number of the next container after the value. */
  nextContainer: number;
}

/** Reads no member before it is looked at: of a body of 5 MB, a few hundred are. */
class Container implements JsonContainer {
  readonly kind: "object" | "array";
  readonly count: number;
  readonly #source: Source;
  readonly #start: number;
  readonly #number: number;

  constructor(source: Source, start: number, number: number) {
    this.kind = source.text[start] === "{" ? "object" : "array";
    this.count = source.index.countOf(number);
    this.#source = source;
    this.#start = start;
    this.#number = number;
  }

  get members(): Iterable<JsonMember> {
    return this.#source.readMembers(this.#start, this.#number);
  }
}

/** A text that is known to be JSON. */
class Source {
  readonly text: string;
  readonly index: ContainerIndex;

  constructor(text: string, index: ContainerIndex) {
    this.text = text;
    this.index = index;
  }

  /** The value that begins at `at`; `container` is the number of the next container from there. */
  readValue(at: number, container: number): ReadValue {
    const { text } = this;
    const first = text[at];
    if (first === "{" || first === "[") {
      const node = new Container(this, at, container);
      return { node, end: this.index.endOf(container), nextContainer: this.index.nextAfter(container) };
    }
    if (first === '"') {
      const end = stringEnd(text, at) ?? text.length;
      return { node: new StringNode(text.slice(at, end)), end, nextContainer: container };
    }
    const end = wordEnd(text, at);
    const kind = first === "n" ? "null" : first === "t" || first === "f" ? "boolean" : "number";
    return { node: { kind, text: text.slice(at, end) }, end, nextContainer: container };
  }

  /** The members of the container with that number, which begins at `start`. */
  *readMembers(start: number, number: number): Generator<JsonMember, void> {
    const { text } = this;
    const isObject = text[start] === "{";
    let container = number + 1;
    let at = skipSpace(text, start + 1);
    for (let index = 0; text[at] !== "}" && text[at] !== "]"; index += 1) {
      let name = String(index);
      if (isObject) {
        const nameEnd = stringEnd(text, at) ?? text.length;
        name = new StringNode(text.slice(at, nameEnd)).value;
        at = skipSpace(text, skipSpace(text, nameEnd) + 1);
      }
      const { node, end, nextContainer } = this.readValue(at, container);
      yield { name, node };
      container = nextContainer;
      at = skipSpace(text, end);
      if (text[at] === ",") at = skipSpace(text, at + 1);
    }
  }
}

class StringNode implements JsonString {
  readonly kind = "string";
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get value(): string {
    return this.text.includes("\\") ? (JSON.parse(this.text) as string) : this.text.slice(1, -1);
  }
}

function wordEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && !/[\s,\]}]/.test(text[end] ?? "")) end += 1;
  return end;
}

const BACKSLASH = 0x5c;

/**
 * Index of the character after the string that begins at `start`; undefined if it has no end. Without a regular
 * expression, which overflows the stack on a string of megabytes.
 */
function stringEnd(text: string, start: number): number | undefined {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? undefined : end + 1;
}

/** Whether the character has an odd number of backslashes before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}
