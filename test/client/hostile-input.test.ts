import { InvalidInputError, createClient } from "pigeonhole/client";
import { describe, expect, test } from "vitest";
import { type Operation, pathNames } from "#pigeonhole/contract/operation.js";
import { HALF_CHARACTER, hostileRequests } from "../sandbox/resources/hostile-requests.js";
import { ALL_ROWS, type CallRow } from "../sandbox/resources/support.js";

/** What a caller may pass as an id by mistake or on purpose. */
const IDS: readonly unknown[] = [
  "",
  ".",
  "..",
  "a/b",
  "../x",
  "%2e%2e",
  "?x",
  "#x",
  "a b",
  "\n",
  "\u0000",
  "\ud800",
  "__proto__",
  "x".repeat(1_000_000),
  null,
  undefined,
  5,
  true,
  {},
  [],
  ["a"],
  { toString: () => "a" },
];

type AnyCall = (...args: unknown[]) => Promise<unknown>;

/** The call of a row, and every request that was sent. */
function openCall({ resource, name }: CallRow) {
  const sent: { url: URL; body: unknown }[] = [];
  const client = createClient({
    apiKey: "svc_live_key",
    baseUrl: "https://api.example.com/v1",
    maxRetries: 0,
    eventsPerMinute: 1_000_000,
    fetch: (url, init) => {
      sent.push({ url: new URL(url), body: init?.body });
      return Promise.resolve(Response.json({}));
    },
  });
  const calls = client as unknown as Record<string, Record<string, AnyCall>>;
  const call = calls[resource]?.[name];
  if (call === undefined) throw new Error(`The client has no ${resource}.${name}.`);
  return { sent, call };
}

function inputOf({ argument }: Operation, body: unknown): unknown {
  return argument === undefined ? body : (body as Record<string, unknown>)[argument];
}

function argumentsOf(operation: Operation, { params, body }: { params: readonly unknown[]; body: unknown }): unknown[] {
  const { uploads, query, example } = operation;
  return [
    ...params,
    ...(operation.body === undefined ? [] : [body]),
    ...(uploads === undefined ? [] : [Buffer.from("bytes")]),
    ...(query === undefined ? [] : [example.query]),
  ];
}

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("the client with bad input", () => {
  test.each(ALL_ROWS.filter(({ operation }) => operation.params !== undefined))(
    "an id that $call is given never leaves its place in the path",
    async (row) => {
      const { operation } = row;
      const { sent, call } = openCall(row);
      const names = pathNames(operation.path);
      const known = names.map((name) => operation.example.params?.[name]);
      const input = inputOf(operation, operation.example.body);
      for (const [index, name] of names.entries()) {
        for (const id of IDS) {
          sent.length = 0;
          const params = known.with(index, id as string);
          const failure = await failureOf(() => call(...argumentsOf(operation, { params, body: input })));
          if (sent.length === 0) {
            expect(failure, `${name} ${String(id).slice(0, 20)}`).toBeInstanceOf(InvalidInputError);
            continue;
          }
          expect(typeof id, name).toBe("string");
          const parts = sent[0]?.url.pathname.split("/").slice(2).map(decodeURIComponent);
          const path = operation.path.split("/").slice(1);
          expect(parts).toEqual(
            path.map((part) => (part === `{${name}}` ? id : (params[names.indexOf(part.slice(1, -1))] ?? part))),
          );
        }
      }
    },
  );

  test.each(ALL_ROWS.filter(({ operation }) => operation.body !== undefined))(
    "a body that $call is given is refused before it is sent, or sent as JSON",
    async (row) => {
      const { operation } = row;
      const { sent, call } = openCall(row);
      const params = pathNames(operation.path).map((name) => operation.example.params?.[name]);
      for (const { name, field, body } of hostileRequests(operation)) {
        if (field === undefined) continue;
        sent.length = 0;
        const input = inputOf(operation, body);
        const failure = await failureOf(() => call(...argumentsOf(operation, { params, body: input })));
        if (sent.length === 0) {
          expect(failure, name).toBeInstanceOf(InvalidInputError);
          expect((failure as InvalidInputError).message.length, name).toBeLessThan(500);
          continue;
        }
        if (operation.events === undefined) expect(name.endsWith(HALF_CHARACTER), name).toBe(false);
        expect(() => JSON.parse(String(sent[0]?.body)) as unknown, name).not.toThrow();
      }
    },
  );
});
