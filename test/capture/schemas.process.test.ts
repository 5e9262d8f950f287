import { symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type * as z from "zod";
import { EVENT_TYPES } from "pigeonhole/protocol";
import { createTestReceiver, deliver, sampleEvent, sampleTestEvent } from "pigeonhole/testing";
import { generateSchemas } from "#pigeonhole/capture/schemas/generate-schemas.js";
import { makeCapture } from "../support/captures.js";
import { makeFolder } from "../support/folder.js";
import { errorOf } from "../support/error-of.js";
import { runToEnd } from "../support/start-program.js";

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
  const args = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder];
  await runToEnd({ command: process.execPath, args });
  const module = (await import(pathToFileURL(join(folder, "schemas.js")).href)) as {
    schemas: Record<string, z.ZodType>;
  };
  return module.schemas;
}

const times = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** The lines between the braces of the one schema, of which each sample was seen ten times. */
function fieldsOf(samples: unknown[]): string[] {
  const text = generateSchemas(capturesOf(...times(10, () => samples).flat()));
  return [...text.matchAll(/^ {2}(?!"form)(.+),$/gm)].map(([, line = ""]) => line);
}

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
  });

  test("a generated module is the same for the same captures, and contains none of their values", () => {
    expect(generateSchemas(samples)).toBe(text);
    expect(text).not.toMatch(/\bada\b|customer|#1042|transactional|dkim_/i);
  });

  test("a generated module accepts its own samples, whatever JSON they are", async () => {
    const json = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6 });
    const lists = fc.sample(fc.array(json, { minLength: 1, maxLength: 12 }), { numRuns: 60, seed: 7 });
    const captures = lists.flatMap((list, n) => list.map((data) => captureOf(`random.type_${n}`, data)));
    const random = generateSchemas(captures);
    const schemas = await load(random);
    for (const [n, list] of lists.entries()) {
      for (const data of list) {
        const sent = JSON.parse(JSON.stringify(data)) as unknown;
        expect(schemas[`random.type_${n}`]?.safeParse(sent).error?.issues, JSON.stringify(sent)).toBeUndefined();
      }
    }
  });

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
    ["a text, whatever its format", [{ a: "a@b.example" }], ["a: z.string()"]],
    ["quoted where its name needs it", [{ "a-b": 1, __proto__x: 2 }], ['"a-b": z.number()', "__proto__x: z.number()"]],
  ])("a field of a generated schema is %s", (_, samples, lines) => expect(fieldsOf(samples)).toEqual(lines));
});

test.each([
  [9, "a: z.optional(z.boolean())"],
  [10, "a: z.boolean()"],
])("of %i captures that have a field, it is required from the tenth on", (count, line) => {
  expect(generateSchemas(capturesOf(...times(count, () => ({ a: true }))))).toContain(`  ${line},\n`);
});

test("a generated module says from how many captures of which sources it was learned", () => {
  const body = JSON.stringify({ id: "evt_1", type: "form.submitted", createdAt: "2026-01-01T00:00:00Z", data: {} });
  const captures = (["production", "live", "live"] as const).map((source) => makeCapture({ body, source }));
  expect(generateSchemas(captures)).toContain(
    "// Learned from 3 captures (2 live, 1 production). A field is optional until 10 of a type have had it.",
  );
});

test("names of fields and types are no code, whatever they are", async () => {
  const name = "a\u2028throw new Error(1)//";
  expect(Object.keys(await load(generateSchemas([captureOf(name, { [name]: 1 })])))).toEqual([name]);
});
