import { describeFields } from "#pigeonhole/contract/describe-fields.js";
import { jsonSchemaOf } from "#pigeonhole/contract/json-schema.js";
import type { Operation } from "#pigeonhole/contract/operation.js";
import type { RowRequest } from "./support.js";

/** One bad request for a row. */
export interface HostileRequest extends RowRequest {
  /** What is bad: a field and the kind of its value. */
  name: string;
  /** The field of the body that is bad; undefined for anything else. */
  field?: string;
  /** The raw text that stands in the URL for {@link RAW}. */
  raw?: string;
}

/** Stands in a path or a query for text that no encoder writes. */
export const RAW = "RAW-TEXT";
export const LONG_TEXT = "a text of 1 MB";
export const HALF_CHARACTER = "half a character";

const LONG = "x".repeat(1024 * 1024);
const HALF = "\ud800";
/** A lone surrogate as UTF-8 would have it, and bytes that are cut off. */
const RAW_TEXTS = ["%ED%A0%80", "%", "%C3", "%FF", "%00", "%2e%2e%2f"];

/** Values that a field may get by mistake or on purpose. */
const VALUES: readonly (readonly [name: string, value: unknown])[] = [
  ["null", null],
  ["a number", -1e308],
  ["true", true],
  ["a list of lists", [[[]]]],
  ["a long list", Array.from({ length: 2_000 }, () => "x@x.example")],
  ["an object", { toString: 1, length: 2 }],
  [LONG_TEXT, LONG],
  ["an empty text", ""],
  [HALF_CHARACTER, HALF],
  ["markup", "<script>alert(1)</script>\u0000"],
  ["a path", "../../etc/passwd"],
];

/** Bodies that are no object of the row. */
const BODIES: readonly (readonly [name: string, body: string])[] = [
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

const TEXTS_OF_QUERIES = ["", "x,y", "\ufffd", LONG.slice(0, 9000), "-1", "true", "[]", "__proto__", "../x", "\u0000"];

const KEYS_OF_OBJECTS = ["__proto__", "constructor", "toString"];

/** Each bad request for a row. */
export function hostileRequests(operation: Operation): HostileRequest[] {
  return [...ofBody(operation), ...ofQuery(operation), ...ofPath(operation)];
}

function ofBody({ body, example }: Operation): HostileRequest[] {
  if (body === undefined) return [];
  const fields = describeFields(jsonSchemaOf(body)).map(({ name }) => name.replaceAll("[]", ".0"));
  const values = fields.flatMap((field) =>
    VALUES.map(([kind, value]) => ({
      name: `${field}: ${kind}`,
      field,
      body: withValue(example.body ?? {}, field.split("."), value),
    })),
  );
  const whole = BODIES.map(([name, text]) => ({ name, body: text }));
  const keys = KEYS_OF_OBJECTS.map((key) => {
    // As text, since an object literal would set the prototype.
    const rest = JSON.stringify(example.body ?? {}).slice(1);
    return { name: `the key ${key}`, body: `{"${key}":{"a":1}${rest === "}" ? "" : ","}${rest}` };
  });
  const unknown = { name: "an unknown key", body: { ...example.body, [LONG.slice(0, 9000)]: 1 } };
  return [...values, ...whole, ...keys, unknown];
}

function ofQuery({ query, example }: Operation): HostileRequest[] {
  const values = Object.keys(query?.shape ?? {}).flatMap((field) => [
    ...TEXTS_OF_QUERIES.map((value) => ({ name: `?${field}=${value.slice(0, 9)}`, query: { [field]: value } })),
    ...RAW_TEXTS.map((raw) => ({ name: `?${field}=${raw}`, query: { [field]: RAW }, raw })),
  ]);
  const keys = ["surprise", ...KEYS_OF_OBJECTS].map((key) => ({
    name: `an unknown key ?${key}`,
    query: Object.fromEntries([[key, 1], ...Object.entries(example.query ?? {})]),
  }));
  return [...values, ...keys];
}

function ofPath({ params }: Operation): HostileRequest[] {
  return Object.keys(params?.shape ?? {}).flatMap((field) => [
    ...IDS.map((id) => ({ name: `{${field}} ${id.slice(0, 9)}`, params: { [field]: id } })),
    ...RAW_TEXTS.map((raw) => ({ name: `{${field}} ${raw}`, params: { [field]: RAW }, raw })),
  ]);
}

/** A copy of a body with another value at a path; objects and lists on the way are made. */
function withValue(body: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (key === "0") {
    const [first, ...others] = Array.isArray(body) ? (body as unknown[]) : [];
    return [withValue(first, rest, value), ...others];
  }
  const known = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  return { ...known, [key]: withValue(known[key], rest, value) };
}
