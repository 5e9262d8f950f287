import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { type SchemaMap, createReceiver } from "pigeonhole";
import { TEST_SECRET, createTestReceiver } from "pigeonhole/testing";
import { openReceiver } from "../support/receiver.js";
import { postUntil } from "../support/start-receiver.js";
import { parkedBy } from "./parked-by.js";

const CANARY = "canary@example.com";

interface Sent {
  to: string;
  at: Date;
  deep: { list: { n: number }[] };
  counts: Record<string, number>;
}

const toDate = (text: string): Date => new Date(text);

const LIBRARIES = {
  zod: z.object({
    to: z.email(),
    at: z.string().transform(toDate),
    deep: z.object({ list: z.array(z.object({ n: z.number() })) }),
    counts: z.record(z.string(), z.number()),
  }),
  "zod mini": mini.object({
    to: mini.email(),
    at: mini.pipe(mini.string(), mini.transform(toDate)),
    deep: mini.object({ list: mini.array(mini.object({ n: mini.number() })) }),
    counts: mini.record(mini.string(), mini.number()),
  }),
  Valibot: v.object({
    to: v.pipe(v.string(), v.email()),
    at: v.pipe(v.string(), v.transform(toDate)),
    deep: v.object({ list: v.array(v.object({ n: v.number() })) }),
    counts: v.record(v.string(), v.number()),
  }),
  ArkType: type({
    to: "string.email",
    at: "string.date.parse",
    deep: { list: type({ n: "number" }).array() },
    counts: "Record<string, number>",
  }),
};

const names = Object.keys(LIBRARIES) as (keyof typeof LIBRARIES)[];

const schemaOf = (validate: (value: unknown) => unknown, version = 1): SchemaMap[string] =>
  ({ "~standard": { version, vendor: "own", validate } }) as SchemaMap[string];

describe("a schema of another library than zod", () => {
  test("a schema of any library types the event", () => {
    const { zod, Valibot, ArkType } = LIBRARIES;
    const receiver = createTestReceiver({
      schemas: { "email.sent": zod, "email.opened": Valibot, "email.bounced": ArkType, "a.b": LIBRARIES["zod mini"] },
    });
    receiver.on("email.sent", ({ data }) => expectTypeOf(data).toEqualTypeOf<Sent>());
    receiver.on("email.opened", ({ data }) => expectTypeOf(data).toEqualTypeOf<Sent>());
    receiver.on("email.bounced", ({ data }) => expectTypeOf(data).toEqualTypeOf<Sent>());
    receiver.on("a.b", ({ data }) => expectTypeOf(data).toEqualTypeOf<Sent>());
  });

  test.each(names)("a schema of %s checks data and passes its output to the handler", async (name) => {
    const seen: Sent[] = [];
    const receiver = openReceiver({ schemas: { "email.sent": LIBRARIES[name] } });
    receiver.on("email.sent", ({ data }) => seen.push(data));
    await receiver.start();
    const data = { to: "a@example.com", at: "2026-01-01T00:00:00Z", deep: { list: [{ n: 1 }] }, counts: { b: 2 } };
    await postUntil(receiver, { state: "done" }, { data });
    expect(seen).toEqual([{ ...data, at: new Date(data.at) }]);
  });

  test.each(names)("a schema of %s that does not match parks the event with paths, and no values", async (name) => {
    const data = { to: `<${CANARY}>`, at: "2026-01-01", deep: { list: [{ n: 1 }, { n: CANARY }] } };
    const error = await parkedBy(LIBRARIES[name], { ...data, counts: { [CANARY]: CANARY } });
    expect(error).not.toContain("canary");
    const issues = error.split("; ").map((issue) => issue.split(": "));
    expect(new Set(issues.map(([path]) => path))).toEqual(new Set(["data.to", "data.deep.list.1.n", "data.counts.*"]));
    const ownWords = name.startsWith("zod") ? /^invalid_/ : /^does not fit$/;
    for (const [, rule] of issues) expect(rule).toMatch(ownWords);
  });

  test("a schema that answers with nothing, or cannot be read, parks the event all the same", async () => {
    const silent = schemaOf(() => undefined);
    expect(await parkedBy(silent, {})).toMatch(/^The schema threw TypeError; /);
    const issues = [{ message: CANARY, path: ["to", { key: CANARY }] }, { message: CANARY }];
    const unreadable = {
      ...schemaOf(() => ({ issues })),
      get to(): string {
        throw new Error(CANARY);
      },
    };
    expect(await parkedBy(unreadable, {})).toBe("data.*.*: does not fit; data: does not fit");
  });
});

describe("an asynchronous schema", () => {
  const wait = () => Promise.resolve(true);
  test.each<[string, SchemaMap[string]]>([
    ["zod", z.object({}).refine(wait)],
    ["zod, in a field", z.object({ list: z.array(z.object({ to: z.email().refine(wait) })) })],
    ["zod, in a transform", z.object({ n: z.number().transform(wait) })],
    ["zod, of a whole object", z.object({ a: z.object({ to: z.string() }).refine(wait) })],
    ["zod, whose promise fails", z.object({ to: z.string().refine(() => Promise.reject(new Error(CANARY))) })],
    ["zod, in superRefine", z.object({ to: z.string() }).superRefine(() => Promise.resolve())],
    ["zod, of one of some texts", z.object({ kind: z.enum(["hard", "soft"]).refine(wait) })],
    ["zod, in a transform of a text that must fit", z.object({ at: z.uuid().transform(wait).pipe(z.boolean()) })],
    ["zod, in a member of a union", z.union([z.tuple([z.string()]).refine(wait), z.null()])],
    ["zod, in one that is lazy", z.array(z.lazy(() => z.strictObject({ to: z.string() }).refine(wait)))],
    ["zod, in a codec", z.codec(z.iso.date(), z.boolean(), { decode: wait, encode: () => "" })],
    ["zod mini", mini.object({ to: mini.string().check(mini.refine(wait)) })],
    ["Valibot, in a field", v.object({ to: v.pipeAsync(v.string(), v.checkAsync(wait)) as never })],
    ["Valibot", v.objectAsync({ to: v.pipeAsync(v.string(), v.checkAsync(wait)) })],
    ["an own schema", schemaOf(() => Promise.reject(new Error(CANARY)))],
  ])("an asynchronous schema of %s is refused when the receiver is made", (_, schema) => {
    expect(() =>
      createReceiver({ secrets: TEST_SECRET, store: ":memory:", schemas: { "email.sent": schema } }),
    ).toThrow(
      expect.objectContaining({
        code: "invalid_option",
        message:
          'schemas["email.sent"] is asynchronous; schemas must be synchronous. Do in the handler what has to wait.',
      }),
    );
  });

  const later = (text: unknown) => text !== CANARY || Promise.resolve(true);
  const own = (value: unknown) => later((value as { late?: string } | undefined)?.late);
  test.each<[string, SchemaMap[string], RegExp]>([
    [
      "zod",
      z.object({ late: z.string().refine(later) }),
      /^The schema is asynchronous; schemas must be synchronous\.$/,
    ],
    ["zod, in a transform", z.object({ late: z.string().transform(later) }), /schemas must be synchronous/],
    ["an own schema", schemaOf(own), /^The schema is asynchronous; schemas must be synchronous\.$/],
  ])("an asynchronous schema of %s that only data shows parks the event", async (_, schema, sentence) => {
    expect(await parkedBy(schema, { late: CANARY })).toMatch(sentence);
  });
});

test.each<[string, unknown]>([
  ["no object", "email.sent"],
  ["a list", [z.object({})]],
  ["a schema", z.object({})],
])("schemas that are %s are refused with what they must be", (_, schemas) => {
  expect(() => openReceiver({ schemas: schemas as SchemaMap })).toThrow(
    expect.objectContaining({
      code: "invalid_option",
      message: expect.stringMatching(/^schemas must be an object with a schema of zod 4, Valibot, .* by event type\.$/),
    }),
  );
});

test.each<[string, unknown]>([
  ["nothing", null],
  ["an object", { to: "string" }],
  ["a function", () => true],
  ["of another version of the standard", schemaOf(() => ({ value: 1 }), 2)],
  ["without a function", { "~standard": { version: 1 } }],
])("a schema that is %s is refused with what it must be", (_, schema) => {
  expect(() => openReceiver({ schemas: { "email.sent": schema } as SchemaMap })).toThrow(
    expect.objectContaining({
      code: "invalid_option",
      message: expect.stringMatching(
        /^schemas\["email\.sent"\] must be a schema of zod 4, Valibot, ArkType or another/,
      ),
    }),
  );
});
