import { PigeonholeError } from "../../base/error.js";
import type { SchemaField, SchemaNode } from "./schema-node.js";

const TOKEN = /\s*(?:\/\/[^\n]*\n\s*|\/\*[\s\S]*?\*\/\s*)*("(?:[^"\\]|\\.)*"|[A-Za-z_$][\w$.]*|[{}()[\],:.]|$)/y;

/** Parses zod expressions written by `printSchema`, also after a formatter changed them. */
export class SchemaReader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  /**
   * Parses the expression that begins here. Throws an `invalid_argument` with the line for anything that `printSchema`
   * does not write.
   */
  readSchema(): SchemaNode {
    const name = this.#take();
    this.#expect("(");
    switch (name) {
      case "z.unknown":
        return this.#close({ kind: "unknown" });
      case "z.boolean":
        return this.#close({ kind: "boolean" });
      case "z.number":
      case "z.int":
        return this.#close({ kind: "number", whole: name === "z.int" });
      case "z.email":
      case "z.uuid":
      case "z.url":
        return this.#close({
          kind: "string",
          format: name.slice("z.".length) as "email" | "uuid" | "url",
          prefix: null,
        });
      case "z.iso.datetime":
        for (const token of ["{", "offset", ":", "true"]) this.#expect(token);
        this.#skip(",");
        this.#expect("}");
        return this.#close({ kind: "string", format: "datetime", prefix: null });
      case "z.string":
        this.#expect(")");
        return { kind: "string", format: null, prefix: this.#readPrefix() };
      case "z.enum":
        return this.#close({ kind: "enum", values: this.#readList("[", "]", () => this.#readText()) });
      case "z.union":
        return this.#close({ kind: "union", members: this.#readList("[", "]", () => this.readSchema()) });
      case "z.array":
        return this.#close({ kind: "array", element: this.readSchema() });
      case "z.nullable":
        return this.#close({ kind: "nullable", inner: this.readSchema() });
      case "z.record":
        for (const token of ["z.string", "(", ")", ","]) this.#expect(token);
        return this.#close({ kind: "record", value: this.readSchema() });
      case "z.looseObject":
        return this.#close({ kind: "object", fields: new Map(this.#readList("{", "}", () => this.#readField())) });
      default:
        return this.#fail(name);
    }
  }

  #readField(): [string, SchemaField] {
    const token = this.#take();
    const key = token.startsWith('"') ? (JSON.parse(token) as string) : token;
    this.#expect(":");
    const optional = this.#peek() === "z.optional";
    if (!optional) return [key, { schema: this.readSchema(), optional }];
    this.#take();
    this.#expect("(");
    const schema = this.readSchema();
    this.#skip(",");
    this.#expect(")");
    return [key, { schema, optional }];
  }

  #readPrefix(): string | null {
    if (this.#peek() !== ".") return null;
    for (const token of [".", "startsWith", "("]) this.#expect(token);
    const prefix = this.#readText();
    this.#expect(")");
    return prefix;
  }

  #readText(): string {
    const token = this.#take();
    return token.startsWith('"') ? (JSON.parse(token) as string) : this.#fail(token);
  }

  #readList<Item>(open: string, close: string, read: () => Item): Item[] {
    this.#expect(open);
    const items: Item[] = [];
    while (this.#peek() !== close) {
      items.push(read());
      if (this.#peek() !== close) this.#expect(",");
    }
    this.#expect(close);
    return items;
  }

  #close<Node extends SchemaNode>(node: Node): Node {
    this.#skip(",");
    this.#expect(")");
    return node;
  }

  #skip(token: string): void {
    if (this.#peek() === token) this.#take();
  }

  #expect(token: string): void {
    const found = this.#take();
    if (found !== token) this.#fail(found);
  }

  #peek(): string {
    const at = this.#at;
    const token = this.#take();
    this.#at = at;
    return token;
  }

  #take(): string {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (match === null) return this.#fail(this.#text.slice(this.#at, this.#at + 20).trim());
    this.#at = TOKEN.lastIndex;
    return match[1] ?? "";
  }

  #fail(token: string): never {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    const found = token === "" ? "the end of the file" : token;
    throw new PigeonholeError(
      "invalid_argument",
      `Line ${line} of the schemas was not written by this version: it cannot read ${found}. Generate the file again, and keep your own changes in another file.`,
    );
  }
}
