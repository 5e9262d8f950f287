import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type * as z from "zod";
import { EVENT_TYPES } from "pigeonhole/protocol";
import { createTestReceiver, deliver, sampleEvent, sampleTestEvent } from "pigeonhole/testing";
import { compareSchemas } from "#pigeonhole/capture/schemas/compare-schemas.js";
import { generateSchemas } from "#pigeonhole/capture/schemas/generate-schemas.js";
import { INFER_RULES } from "#pigeonhole/capture/schemas/infer-schema.js";
import { makeCapture } from "../support/captures.js";
import { makeFolder } from "../support/folder.js";
import { errorOf } from "../support/error-of.js";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");

const captureOf = (type: string, data: unknown) =>
  makeCapture({ body: JSON.stringify({ id: "evt_1", type, createdAt: "2026-01-01T00:00:00Z", data }) });
const capturesOf = (...samples: unknown[]) => samples.map((data) => captureOf("form.submitted", data));

/** Compiles and loads a generated module as a project that uses this package would. */
async function load(text: string): Promise<Record<string, z.ZodType>> {
  const folder = makeFolder();
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "schemas.ts"), text);
  const options = { noEmit: false, outDir: folder, rootDir: folder, incremental: false };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: options,
      include: ["schemas.ts"],
      exclude: [],
    }),
  );
  await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder]).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout);
  });
  const module = (await import(pathToFileURL(join(folder, "schemas.js")).href)) as {
    schemas: Record<string, z.ZodType>;
  };
  return module.schemas;
}

/** The lines between the braces of the one schema. */
function fieldsOf(samples: unknown[], options = {}): string[] {
  const text = generateSchemas(capturesOf(...samples), { ...INFER_RULES, requiredSamples: 1, ...options });
  return [...text.matchAll(/^ {2}(?!"form)(.+),$/gm)].map(([, line = ""]) => line);
}

const times = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));

describe("a generated module", () => {
  const samples = EVENT_TYPES.flatMap((type) =>
    times(4, () => makeCapture({ body: JSON.stringify(sampleEvent(type)) })),
  );
  const text = generateSchemas(samples);

  test("a generated module compiles under strict settings, accepts every capture, and narrows handlers", async () => {
    const schemas = await load(text);
    expect(Object.keys(schemas).toSorted()).toEqual(EVENT_TYPES.toSorted());
    const receiver = createTestReceiver({ schemas });
    onTestFinished(() => receiver.stop({ timeoutMs: 0 }));
    for (const type of EVENT_TYPES) {
      expect((await deliver(receiver, sampleEvent(type))).outcome, type).toBe("accepted");
    }
    expect((await deliver(receiver, sampleEvent("email.sent", { to: 5 }))).outcome).toBe("parked");
  }, 60_000);

  test("a generated module is the same for the same captures, contains none of their values, and accepts them", () => {
    expect(generateSchemas(samples)).toBe(text);
    expect(text).not.toMatch(/\bada\b|customer|#1042|transactional|dkim_/i);
    expect(compareSchemas(text, samples)).toEqual([]);
  });

  test("a generated module accepts its own samples, whatever JSON they are", async () => {
    const json = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6 });
    const lists = fc.sample(fc.array(json, { minLength: 1, maxLength: 12 }), { numRuns: 60, seed: 7 });
    const captures = lists.flatMap((list, n) => list.map((data) => captureOf(`random.type_${n}`, data)));
    const random = generateSchemas(captures, { ...INFER_RULES, formatSamples: 1, enumSamples: 3 });
    const schemas = await load(random);
    for (const [n, list] of lists.entries()) {
      for (const data of list) {
        const sent = JSON.parse(JSON.stringify(data)) as unknown;
        expect(schemas[`random.type_${n}`]?.safeParse(sent).error?.issues, JSON.stringify(sent)).toBeUndefined();
      }
    }
    expect(compareSchemas(random, captures)).toEqual([]);
  }, 60_000);

  test("a generated module leaves out test deliveries and bodies that cannot be read", async () => {
    const captures = [makeCapture({ body: JSON.stringify(sampleTestEvent()) }), makeCapture({ body: "no" })];
    expect((await errorOf(() => generateSchemas(captures))).code).toBe("no_capture");
  });
});

describe("the fields of a generated schema", () => {
  test.each<[string, unknown[], string[]]>([
    ["optional where some lack it", [{ a: "x", b: true }, { a: "y" }], ["a: z.string()", "b: z.optional(z.boolean())"]],
    ["nullable where some are null", [{ a: null }, { a: "x" }], ["a: z.nullable(z.string())"]],
    ["unknown where all are null", [{ a: null }], ["a: z.unknown()"]],
    ["a union of kinds", [{ a: 1 }, { a: "x" }], ["a: z.union([z.string(), z.number()])"]],
    ["a list", [{ a: [1.5] }, { a: [] }], ["a: z.array(z.number())"]],
    ["a list of anything", [{ a: [] }], ["a: z.array(z.unknown())"]],
    ["an email, once three agree", times(3, () => ({ a: "a@b.example" })), ["a: z.email()"]],
    ["a string below three", times(2, () => ({ a: "a@b.example" })), ["a: z.string()"]],
    [
      "a string when one of many is no email",
      [...times(5, () => ({ a: "a@b.example" })), { a: "" }],
      ["a: z.string()"],
    ],
    ["a date-time", times(3, () => ({ a: "2026-02-28T00:00:00Z" })), ["a: z.iso.datetime({ offset: true })"]],
    ["no date-time of a day that does not exist", times(3, () => ({ a: "2026-02-30T00:00:00Z" })), ["a: z.string()"]],
    ["an identifier", times(3, (n) => ({ a: `msg_00000${n}` })), ['a: z.string().startsWith("msg_")']],
    ["a string where prefixes differ", times(3, (n) => ({ a: `m${"sg".slice(n % 2)}_00000${n}` })), ["a: z.string()"]],
    ["a whole number", times(3, (n) => ({ a: n })), ["a: z.int()"]],
    [
      "a closed list after many samples",
      times(20, (n) => ({ a: n % 2 === 0 ? "hard" : "soft" })),
      ['a: z.enum(["hard", "soft"])'],
    ],
    ["no closed list with a rare value", times(20, (n) => ({ a: n === 0 ? "rare" : "soft" })), ["a: z.string()"]],
    [
      "a record where keys are data",
      times(10, (n) => ({ a: { [`k${n}`]: "v w" } })),
      ["a: z.record(z.string(), z.string())"],
    ],
    ["quoted where its name needs it", [{ "a-b": 1, __proto__x: 2 }], ['"a-b": z.number()', "__proto__x: z.number()"]],
  ])("a field of a generated schema is %s", (_, samples, lines) => expect(fieldsOf(samples)).toEqual(lines));
});

test.each([
  [9, ["a: z.optional(z.boolean())", "b: z.optional(z.boolean())"]],
  [10, ["a: z.boolean()", "b: z.optional(z.boolean())"]],
])("of %i captures that have a field, it is required from the tenth on", (count, lines) => {
  const samples = times(count, (n) => (n === 0 ? { a: true } : { a: true, b: true }));
  expect(fieldsOf(samples, INFER_RULES)).toEqual(lines);
});

test("a generated module says from how many captures of which sources it was learned", () => {
  const body = JSON.stringify({ id: "evt_1", type: "form.submitted", createdAt: "2026-01-01T00:00:00Z", data: {} });
  const captures = (["production", "live", "live"] as const).map((source) => makeCapture({ body, source }));
  expect(generateSchemas(captures)).toContain(
    "// Learned from 3 captures (2 live, 1 production). A field is optional until 10 of a type have had it.",
  );
});

describe("drift between schemas and captures", () => {
  const text = generateSchemas(
    capturesOf(
      ...times(5, (n) => ({
        email: "a@b.example",
        count: n,
        list: [{ id: `item_00000${n}` }],
        maybe: n > 2 ? "x" : null,
      })),
    ),
    { ...INFER_RULES, requiredSamples: 1 },
  );
  const good = { email: "c@d.example", count: 1, list: [], maybe: null };

  test.each<[string, unknown, string[]]>([
    ["nothing", good, []],
    ["null", { ...good, email: null }, ["$.email is null, the schema says email"]],
    ["another text", { ...good, email: "x" }, ["$.email is another string, the schema says email"]],
    ["a missing field", { email: "c@d.example", count: 1, list: [] }, ["$.maybe is missing, the schema requires it"]],
    ["a new field", { ...good, extra: 1 }, ["$.extra is new, the schema does not name it"]],
    [
      "within lists, once",
      { ...good, list: [{ id: 1 }, { id: 2 }] },
      ["$.list[*].id is number, the schema says string that begins with item_"],
    ],
    ["a fraction", { ...good, count: 1.5 }, ["$.count is another number, the schema says whole number"]],
  ])("compareSchemas reports %s", (_, data, wanted) => {
    const drifts = compareSchemas(text, capturesOf(data, data));
    expect(drifts.map(({ path, problem }) => `${path} ${problem}`)).toEqual(wanted);
    for (const drift of drifts) expect(drift).toMatchObject({ type: "form.submitted", captures: 2 });
  });

  test("compareSchemas reports a type without a schema", () => {
    expect(compareSchemas(text, [captureOf("email.sent", {})])).toMatchObject([
      { type: "email.sent", path: "$", problem: "has no schema" },
    ]);
  });

  test("names of fields and types are no code, whatever they are", async () => {
    const name = "a\u2028throw new Error(1)//";
    const captures = [captureOf(name, { [name]: 1 })];
    const odd = generateSchemas(captures);
    expect(Object.keys(await load(odd))).toEqual([name]);
    expect(compareSchemas(odd, captures)).toEqual([]);
  });

  test.each(["", "export const a = 1;", "\n// For captures types --check: {"])(
    "compareSchemas refuses a file that generateSchemas did not write: %j",
    async (other) => {
      expect((await errorOf(() => compareSchemas(other, []))).code).toBe("invalid_argument");
    },
  );
});
