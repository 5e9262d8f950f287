import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { checkInput } from "#pigeonhole/contract/check-input.js";
import { DOCUMENTED_OPERATIONS, NAMED_OPERATIONS } from "./documented-operations.js";
import { recordAnswers } from "../sandbox/resources/recorded-results.js";
import { type Operation, pathNames, takesIdempotencyKey } from "#pigeonhole/contract/operation.js";

const answers = await recordAnswers();
const rows = listOperations().map(({ resource, name, operation }) => [`${resource}.${name}`, operation] as const);

function inputs(operation: Operation) {
  const { params, query, body, example } = operation;
  return [
    ["params", params, example.params] as const,
    ["query", query, example.query ?? {}] as const,
    ["body", body, example.body] as const,
  ].flatMap(([part, schema, value]) => (schema === undefined ? [] : [{ part, schema, value }]));
}

describe("the contract", () => {
  test("the contract has the 102 operations that the documentation names, each once, but for one without a shape", () => {
    expect(new Set(DOCUMENTED_OPERATIONS).size).toBe(78);
    const calls = new Map(rows.map(([name, { method, path }]) => [`${method} ${path}`, name]));
    const shown = DOCUMENTED_OPERATIONS.map((line) => calls.get(line) ?? line);
    const named = NAMED_OPERATIONS.map(([words, call]) => call ?? words);
    const all = [...rows.map(([name]) => name), "read the analytics of a form"];
    expect([...shown, ...named].toSorted()).toEqual(all.toSorted());
    expect(all).toHaveLength(102);
  });

  test.each(rows)(
    "the contract has %s by its documented method and path, or says that the path is an assumption",
    (_, row) => {
      expect(DOCUMENTED_OPERATIONS.includes(`${row.method} ${row.path}`)).toBe(row.pathIsAssumed !== true);
    },
  );

  test("the contract has no method and path twice", () => {
    const keys = rows.map(([, { method, path }]) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("the contract takes an idempotency key on the two calls that send events, and on no others", () => {
    const keyed = rows.filter(([, operation]) => takesIdempotencyKey(operation)).map(([name]) => name);
    expect(keyed).toEqual(["contactEvents.send", "contactEvents.sendBatch"]);
    expect(rows.filter(([, operation]) => operation.events !== undefined).map(([name]) => name)).toEqual(keyed);
  });
});

describe.each(rows)("%s", (name, operation) => {
  test("an operation has a schema for exactly the parameters of its path", () => {
    expect(Object.keys(operation.params?.shape ?? {}).toSorted()).toEqual(pathNames(operation.path).toSorted());
  });

  test("an operation is retried freely only when it reads", () => {
    expect(operation.retry === "safe").toBe(operation.method === "GET");
    expect(operation.method === "GET" && operation.body !== undefined).toBe(false);
    if (operation.retry === "repeatable") expect(["PUT", "DELETE"]).toContain(operation.method);
  });

  test("an operation succeeds with 200, or with 201 when it makes something", () => {
    for (const status of operation.status) expect([200, 201]).toContain(status);
    if (operation.method !== "POST") expect(operation.status).toEqual([200]);
  });

  test("an operation refuses input that is not an object, and path parameters that are missing or empty", () => {
    for (const { schema, part } of inputs(operation)) {
      expect(checkInput(schema, 5)).toMatchObject({ issue: { code: "invalid_parameter", param: "" } });
      if (part !== "params") continue;
      for (const param of Object.keys(schema.shape)) {
        const value = operation.example.params;
        expect(checkInput(schema, { ...value, [param]: "" })).toMatchObject({ ok: false, issue: { param } });
        expect(checkInput(schema, { ...value, [param]: ".." })).toMatchObject({ ok: false, issue: { param } });
        expect(checkInput(schema, {})).toMatchObject({ ok: false });
      }
    }
  });

  test("an operation gives either a file or a result with a schema", () => {
    expect(operation.result === undefined).toBe(operation.downloads === true);
    if (operation.uploads !== undefined) expect([operation.body, operation.retry]).toEqual([undefined, "never"]);
  });

  test("an operation accepts results with new fields and new enum values", () => {
    const result = answers.get(name)?.sent;
    const schema = operation.result ?? z.unknown();
    if (operation.downloads === true) return;
    if (operation.paged === true) {
      const { data } = result as { data: { status?: unknown }[] };
      // The status of an answer is a number, and no enum.
      const changed = { news: 1, ...(typeof data[0]?.status === "number" ? {} : { status: "new" }) };
      const page = { ...(result as object), news: 1, data: data.map((row) => ({ ...row, ...changed })) };
      expect(schema.parse(page)).toMatchObject({ items: data.map(() => changed) });
      const items = { ...page, data: undefined, items: page.data };
      expect(schema.parse(items)).toEqual(schema.parse(page));
      expect(schema.safeParse({ ...page, data: undefined }).success).toBe(false);
      return;
    }
    if (Array.isArray(result)) {
      expect(schema.parse(result.map((row: object) => ({ ...row, news: 1 })))).toMatchObject([{ news: 1 }]);
      return;
    }
    const read = schema.parse({ ...(result as object), news: 1, mode: "new", eventTypes: ["new.type"] });
    if (!Array.isArray(read)) expect(read).toMatchObject({ news: 1, mode: "new", eventTypes: ["new.type"] });
  });

  test("an operation has schemas that can be written as JSON Schema", () => {
    for (const schema of [...inputs(operation).map((input) => input.schema), operation.result ?? z.unknown()]) {
      expect(() => z.toJSONSchema(schema, { io: "input" })).not.toThrow();
    }
  });

  test("an operation says the same in its doc and in the docstring that an editor shows", () => {
    const [resource = "", method = ""] = name.split(".");
    const file = resource.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const source = readFileSync(resolve(import.meta.dirname, `../../src/contract/${file}.ts`), "utf8");
    const docstring = new RegExp(`/\\*\\* (.*) \\*/\\n {2}${method}: rows`).exec(source)?.[1];
    expect(docstring).toBe(operation.doc);
  });
});
