import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { takesIdempotencyKey } from "#pigeonhole/contract/operation.js";
import { DOCUMENTS, readDocument } from "./markdown.js";

// Two calls of the API take an idempotency key. Advice to give one to others could not be followed.

const KEYED = listOperations()
  .filter(({ operation }) => takesIdempotencyKey(operation))
  .map(({ resource, name }) => `${resource}.${name}`);

/** Paragraphs that speak of the client in a handler and of a key for its calls. */
function adviceIn(text: string): string[] {
  return text
    .split(/\n\s*\n|\n\s*\*\/|\n- /)
    .map((paragraph) => paragraph.replaceAll(/\s*\n\s*\*?\s*/g, " "))
    .filter((paragraph) => /ctx\.api|the option `api`/.test(paragraph) && /idempotencyKey/.test(paragraph));
}

const context = "src/dispatch/context.ts";
const sources = [
  ...DOCUMENTS.map((path) => [path, readDocument(path)] as const),
  [context, readFileSync(resolve(import.meta.dirname, "../..", context), "utf8")] as const,
];

describe("advice on idempotency keys", () => {
  const advice = sources.flatMap(([path, text]) => adviceIn(text).map((paragraph) => [path, paragraph] as const));

  test("the guide and the docstring of ctx.api advise on keys", () => {
    expect(new Set(advice.map(([path]) => path))).toEqual(new Set(["docs/contact-events.md", context]));
  });

  test.each(advice)("%s advises a key for ctx.api with the names of the calls that take one", (_, paragraph) => {
    for (const call of KEYED) expect(paragraph).toContain(`\`${call}\``);
    expect(paragraph).toMatch(/`(?:ctx\.)?step`/);
  });
});
