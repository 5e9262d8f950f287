import { observeNothing, type Observation } from "./observe-value.js";
import type { SchemaNode } from "./schema-node.js";

/** How much evidence is needed before a schema is narrow. */
export interface InferRules {
  /** Samples that must agree before a format, a prefix or whole numbers are required. */
  formatSamples: number;
  /** Samples needed before few distinct texts are treated as a closed list. */
  enumSamples: number;
  /** Samples that must have a field before it is required. */
  requiredSamples: number;
}

export const INFER_RULES: InferRules = { formatSamples: 3, enumSamples: 20, requiredSamples: 10 };

/** Every value of a closed list must have been seen this often. A value that appears later would park its event. */
const ENUM_SIGHTINGS = 3;
const ENUM_VALUE = /^[A-Za-z0-9][\w.:/+-]*$/;
const RECORD_OBJECTS = 5;
const RECORD_KEYS = 8;
/** A key of a record is in at most this share of the objects. */
const RECORD_PRESENCE = 0.4;

/** The narrowest schema that all samples match and that has enough evidence. */
export function inferSchema(seen: Observation, rules: InferRules): SchemaNode {
  const members: SchemaNode[] = [];
  if (seen.strings.count > 0) members.push(inferString(seen.strings, rules));
  if (seen.numbers.count > 0) {
    members.push({ kind: "number", whole: seen.numbers.whole && seen.numbers.count >= rules.formatSamples });
  }
  if (seen.booleans > 0) members.push({ kind: "boolean" });
  if (seen.arrays.count > 0) members.push({ kind: "array", element: inferSchema(seen.arrays.element, rules) });
  if (seen.objects.count > 0) members.push(inferObject(seen.objects, rules));
  const [first] = members;
  // Only null so far, or an empty list: nothing is known about other values.
  if (first === undefined) return { kind: "unknown" };
  const inner: SchemaNode = members.length === 1 ? first : { kind: "union", members };
  return seen.nulls > 0 ? { kind: "nullable", inner } : inner;
}

function inferString(strings: Observation["strings"], rules: InferRules): SchemaNode {
  const { count, formats, prefix, values } = strings;
  const isSure = count >= rules.formatSamples;
  const format = isSure ? (formats[0] ?? null) : null;
  if (format !== null) return { kind: "string", format, prefix: null };
  if (isSure && typeof prefix === "string") return { kind: "string", format: null, prefix };
  if (values !== undefined && count >= rules.enumSamples && [...values].every(isEnumValue)) {
    return { kind: "enum", values: [...values.keys()].toSorted() };
  }
  return { kind: "string", format: null, prefix: null };
}

function isEnumValue([value, sightings]: [string, number]): boolean {
  return sightings >= ENUM_SIGHTINGS && ENUM_VALUE.test(value);
}

function inferObject(objects: Observation["objects"], rules: InferRules): SchemaNode {
  if (objects.fields.size === 0) return { kind: "record", value: { kind: "unknown" } };
  if (isRecord(objects)) {
    const merged = [...objects.fields.values()].reduce(mergeObservations, observeNothing());
    return { kind: "record", value: inferSchema(merged, rules) };
  }
  const fields = [...objects.fields].map(([key, seen]) => {
    const optional = seen.count < Math.max(objects.count, rules.requiredSamples);
    const field = { schema: inferSchema(seen, rules), optional };
    return [key, field] as const;
  });
  return { kind: "object", fields };
}

/** Many keys, none of them in most of the objects, and values of one kind: the keys are data. */
function isRecord({ count, fields }: Observation["objects"]): boolean {
  if (count < RECORD_OBJECTS || fields.size < RECORD_KEYS) return false;
  const seen = [...fields.values()];
  if (seen.some((field) => field.count > count * RECORD_PRESENCE)) return false;
  return new Set(seen.map(kindOf)).size === 1;
}

function kindOf({ strings, numbers, booleans, arrays, objects }: Observation): string {
  return [strings.count, numbers.count, booleans, arrays.count, objects.count]
    .map((count) => Number(count > 0))
    .join("");
}

function mergeObservations(a: Observation, b: Observation): Observation {
  const merged = observeNothing();
  merged.count = a.count + b.count;
  merged.nulls = a.nulls + b.nulls;
  merged.booleans = a.booleans + b.booleans;
  merged.numbers = { count: a.numbers.count + b.numbers.count, whole: a.numbers.whole && b.numbers.whole };
  const prefixes = [a, b].filter(({ strings }) => strings.count > 0).map(({ strings }) => strings.prefix);
  merged.strings = {
    count: a.strings.count + b.strings.count,
    formats: a.strings.formats.filter((format) => b.strings.formats.includes(format)),
    prefix: new Set(prefixes).size > 1 ? null : prefixes[0],
    // Values of different keys are not one closed list.
    values: undefined,
  };
  const arrays = a.arrays.count + b.arrays.count;
  if (arrays > 0) merged.arrays = { count: arrays, element: mergeObservations(a.arrays.element, b.arrays.element) };
  merged.objects.count = a.objects.count + b.objects.count;
  for (const [key, seen] of [...a.objects.fields, ...b.objects.fields]) {
    const other = merged.objects.fields.get(key);
    merged.objects.fields.set(key, other === undefined ? seen : mergeObservations(other, seen));
  }
  return merged;
}
