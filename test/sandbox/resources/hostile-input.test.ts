import { describe, expect, test } from "vitest";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { type Called, verdict } from "../api/support.js";
import { ACCEPTED } from "./operation-cases.js";
import { ALL_ROWS, type RowRequest, SUPPORT, openWorld, requestOf, stateOf } from "./support.js";

const LONG = "x".repeat(1024 * 1024);
const HALF = "\ud800";

/** Values that a field may get by mistake or on purpose. */
const VALUES: readonly (readonly [name: string, value: unknown])[] = [
  ["null", null],
  ["a number", -1e308],
  ["true", true],
  ["a list of lists", [[[]]]],
  ["an object", { toString: 1, length: 2 }],
  ["a text of 1 MB", LONG],
  ["an empty text", ""],
  ["half a character", HALF],
  ["markup", "<script>alert(1)</script>\u0000"],
  ["a path", "../../etc/passwd"],
];

/** Bodies that are no object of the row. */
const BODIES: readonly (readonly [name: string, body: unknown])[] = [
  ["a list", "[]"],
  ["null", "null"],
  ["a text", '"text"'],
  ["no JSON", "{"],
  ["nothing", ""],
  ["a deep list", "[".repeat(50_000)],
  ["two megabytes", `"${LONG}${LONG}"`],
];

/** Path parameters that no row has. */
const IDS = [
  "whe_65b8f0a2c4d6e8f0ffffffff",
  "file_65b8f0a2c4d6e8f0ffffffff",
  "frm_65b8f0a2c4d6e8f0ffffffff",
  "draft-ffffffff",
  "..",
  ".",
  "%00",
  "__proto__",
  "constructor",
  "a/b",
  "\ufffd",
  LONG.slice(0, 9000),
  "?x",
  "#",
];

/** Each bad request for a row, with a name. */
function badRequests(operation: Operation): (readonly [name: string, request: RowRequest])[] {
  const { body, query, params, example } = operation;
  const ofBody = Object.keys(body?.shape ?? {}).flatMap((field, index) =>
    // A long text takes long; two fields of a row have it.
    VALUES.filter(([, value]) => value !== LONG || index < 2).map(
      ([name, value]) => [`${field}: ${name}`, { body: { ...example.body, [field]: value } }] as const,
    ),
  );
  const whole = body === undefined ? [] : BODIES.map(([name, text]) => [name, { body: text }] as const);
  const keys =
    body === undefined
      ? []
      : ["__proto__", "constructor", "toString"].map((key) => {
          const text = JSON.stringify({ ...example.body }).replace(
            /^\{/,
            `{"${key}":{"a":1}${example.body ? "," : ""}`,
          );
          return [`the key ${key}`, { body: text }] as const;
        });
  const ofQuery = Object.keys(query?.shape ?? {}).flatMap((field) =>
    ["", "x,y", "\ufffd", LONG.slice(0, 9000), "-1", "true", "[]", "__proto__"].map(
      (value) => [`?${field}=${value.slice(0, 9)}`, { query: { [field]: value } }] as const,
    ),
  );
  const ofPath = Object.keys(params?.shape ?? {}).flatMap((field) =>
    IDS.map((id) => [`{${field}} ${id.slice(0, 9)}`, { params: { [field]: id } }] as const),
  );
  return [...ofBody, ...whole, ...keys, ...ofQuery, ...ofPath];
}

/** Codes that any operation may answer with. */
const COMMON = [
  "unauthorized",
  "invalid_parameter",
  "unknown_parameter",
  "resource_not_found",
  "request_too_large",
  "method_not_allowed",
];

describe("bad input", () => {
  test.each(ALL_ROWS)(
    "bad input of $call is refused with a documented error, and then nothing is stored",
    async (row) => {
      const world = openWorld();
      const { operation } = row;
      const requests = badRequests(operation);
      for (const [name, request] of requests) {
        const before = JSON.stringify(stateOf(world));
        const { line, init } = requestOf(operation, request);
        const answer: Called = await world.send(line, init);
        if (name.endsWith(": half a character") && operation.events === undefined) {
          const [field] = name.split(":");
          expect(["invalid_parameter", "invalid_webhook_url"].map((code) => `422 ${code} ${field}`)).toContain(
            verdict(answer),
          );
        }
        if (answer.status < 400) {
          expect(
            ACCEPTED.some((pattern) => pattern.test(`${row.call} ${name}`)),
            `${row.call} ${name}`,
          ).toBe(true);
          expect(operation.result?.safeParse(answer.body).error, name).toBeUndefined();
          continue;
        }
        const { code } = answer.body as { code: string };
        expect([...operation.errors, ...COMMON], `${name}: ${verdict(answer)}`).toContain(code);
        expect(JSON.stringify(stateOf(world)), name).toBe(before);
      }
      expect(({} as { a?: number }).a).toBeUndefined();
    },
  );

  test("bodies that begin a tag again and again are stored and searched at once", async () => {
    const { send } = openWorld();
    const html = "<".repeat(149_000);
    const answers = [
      await send("POST /signatures", { body: { address: SUPPORT, name: "Work", html } }),
      await send("POST /drafts", { body: { html: html.repeat(4), text: "" } }),
      await send("GET /drafts"),
      await send("GET /drafts?query=x"),
    ];
    expect(answers.map(verdict)).toEqual(["201", "201", "200", "200"]);
  });
});
