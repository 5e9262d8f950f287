import * as z from "zod";
import { errorName } from "../base/error-text.js";
import { type SchemaIssue, type SchemaResult, type StandardSchema, isStandardSchema } from "./standard-schema.js";

/** The first issues say what is wrong; a hostile body can cause thousands. */
const MAX_ISSUES = 20;

/** In place of a key that no schema names, as of a record: it may be a value. */
const ANY_KEY = "*";

export const ASYNCHRONOUS = "The schema is asynchronous; schemas must be synchronous.";

/** Checks data by a schema of any library. Never throws. `detail` names fields and rules, never values. */
export function checkData(
  schema: StandardSchema,
  data: unknown,
): { ok: true; data: unknown } | { ok: false; detail: string } {
  try {
    const result = validate(schema, data);
    if ("then" in result) {
      result.then(undefined, () => undefined);
      return { ok: false, detail: ASYNCHRONOUS };
    }
    if (result.issues === undefined) return { ok: true, data: result.value };
    return { ok: false, detail: describeIssues(result.issues, schema, "data") };
  } catch (error) {
    const threw = `The schema threw ${errorName(error)}; schemas must be synchronous and must not throw.`;
    return { ok: false, detail: error instanceof z.core.$ZodAsyncError ? ASYNCHRONOUS : threw };
  }
}

function validate(schema: StandardSchema, value: unknown): SchemaResult | Promise<SchemaResult> {
  if (!isZod(schema)) return schema["~standard"].validate(value);
  // Its own validate answers a thrown error by a second, asynchronous run.
  const { data, error } = z.safeParse(schema, value);
  return error === undefined ? { value: data } : error;
}

function isZod(value: unknown): value is z.core.$ZodType {
  return typeof value === "object" && value !== null && "_zod" in value;
}

/** The path of each issue, and zod's code. Not the messages: they can quote what they found. */
export function describeIssues(all: readonly SchemaIssue[], schema: StandardSchema, ...prefix: string[]): string {
  const { names } = readSchema(schema);
  const issues = all.slice(0, MAX_ISSUES).map((issue) => {
    const keys = issue.path?.map((part) => (typeof part === "object" ? part.key : part)) ?? [];
    const fields = keys.map((key) => (typeof key === "number" || names.has(key) ? String(key) : ANY_KEY));
    const rule = isZod(schema) ? ruleOf(issue as z.core.$ZodIssue) : "does not fit";
    return `${[...prefix, ...fields].join(".") || "the body"}: ${rule}`;
  });
  const left = all.length - issues.length;
  return left > 0 ? `${issues.join("; ")}; and ${left} more` : issues.join("; ");
}

function ruleOf(issue: z.core.$ZodIssue): string {
  return "expected" in issue ? `${issue.code} (expected ${String(issue.expected)})` : issue.code;
}

/** The names of a schema's fields, among its other texts, and the schemas that it is made of, from without. */
interface SchemaParts {
  readonly names: Set<unknown>;
  readonly parts: Set<StandardSchema>;
}

const READ = new WeakMap<StandardSchema, SchemaParts>();

/** Looks into a schema, once. */
export function readSchema(schema: StandardSchema): SchemaParts {
  const known = READ.get(schema);
  if (known !== undefined) return known;
  const read: SchemaParts = { names: new Set(), parts: new Set() };
  READ.set(schema, read);
  try {
    // Valibot has its fields as keys, ArkType as values, and zod its definition beside them.
    JSON.stringify(schema, (key, value: unknown) => {
      read.names.add(key).add(value);
      if (typeof value === "bigint" || (isStandardSchema(value) && read.parts.has(value))) return undefined;
      if (isStandardSchema(value)) read.parts.add(value);
      return isZod(value) ? readZod(value, read) : value;
    });
  } catch {
    read.names.clear();
  }
  read.parts.add(schema);
  return read;
}

/** A schema or a check of zod. `innerType` is that of a lazy schema. */
interface ZodPart {
  readonly _zod: { readonly def: object; readonly check?: (payload: Payload) => unknown; readonly innerType?: object };
}

type Payload = z.core.ParsePayload;

/** The definition. What zod runs only on data that fits so far becomes a schema by itself. */
function readZod({ _zod: zod }: ZodPart, { parts }: SchemaParts): object {
  const { transform }: { transform?: (value: unknown, payload: Payload) => unknown } = zod.def;
  if (zod.check !== undefined) parts.add(schemaOf(zod.check));
  if (transform !== undefined) parts.add(schemaOf((payload) => transform(payload.value, payload)));
  return { lazy: zod.innerType, ...zod.def };
}

function schemaOf(run: (payload: Payload) => unknown): StandardSchema {
  const validate = (value: unknown) => (run({ value, issues: [] }) ?? { value }) as SchemaResult;
  return { "~standard": { version: 1, vendor: "zod", validate } };
}
