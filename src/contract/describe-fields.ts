import type { JsonSchema } from "./json-schema.js";

/** A field of an input or of an answer, in words. */
export interface FieldWords {
  /** Dotted path; `[]` stands for each item of a list. */
  name: string;
  /** Such as `text, 1 to 225 characters`. */
  shape: string;
  isRequired: boolean;
}

/** The fields of an object and of the objects in it. */
export function describeFields(schema: JsonSchema, prefix = ""): FieldWords[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, given]) => {
    const field = given as JsonSchema;
    const path = `${prefix}${name}`;
    const words = { name: path, shape: describeShape(field), isRequired: schema.required?.includes(name) ?? false };
    return [words, ...describeFields(objectOf(field), `${path}${isListOf(field) ? "[]" : ""}.`)];
  });
}

/** What a value has to be, such as `text, 1 to 225 characters`. */
export function describeShape(schema: JsonSchema): string {
  const { type, anyOf, enum: values, const: only } = schema;
  if (anyOf !== undefined) return describeChoice(anyOf);
  if (Array.isArray(type)) return describeChoice(type.map((one) => ({ ...schema, type: one })));
  if (values !== undefined) return values.map(String).join(" or ");
  if (only !== undefined) return only === "" ? "an empty text" : JSON.stringify(only);
  const rule = schema.description === undefined ? "" : `; ${inSentence(schema.description)}`;
  if (type === undefined) return "any JSON value";
  switch (type) {
    case "string":
      return `${textShape(schema)}${rule}`;
    case "integer":
      return `whole number${rangeOf(schema.minimum, schema.maximum, "")}`;
    case "number":
      return `number${rangeOf(schema.minimum, schema.maximum, "")}`;
    case "boolean":
      return "true or false";
    case "null":
      return "null";
    case "array":
      return `list${rangeOf(schema.minItems, schema.maxItems, " items")} of ${describeShape(schema.items as JsonSchema)}`;
    case "object":
      return `object${rule}`;
    default:
      return "any JSON value";
  }
}

/** `text or null, at most 500 characters`: null is named beside the type, so that it is not read as a value of it. */
function describeChoice(choices: readonly JsonSchema[]): string {
  const shapes = [...new Set(choices.filter(({ type }) => type !== "null").map(describeShape))].join(", or ");
  return choices.some(({ type }) => type === "null")
    ? shapes.replace(/^[\w ]+|$/, (words) => `${words} or null`)
    : shapes;
}

function textShape({ format, minLength, maxLength }: JsonSchema): string {
  if (format === "date-time") return "time in ISO 8601 with a zone";
  if (format === "email") return `email address${rangeOf(undefined, maxLength, " characters")}`;
  return `text${rangeOf(minLength === 0 ? undefined : minLength, maxLength, " characters")}`;
}

function rangeOf(min: number | undefined, max: number | undefined, unit: string): string {
  if (min !== undefined && max !== undefined) return `, ${min} to ${max}${unit}`;
  if (max !== undefined) return `, at most ${max}${unit}`;
  return min === undefined || min === 1 ? "" : `, at least ${min}${unit}`;
}

/** Sentences as parts of one. */
function inSentence(sentences: string): string {
  return sentences
    .replaceAll(/(?:^|\. )[A-Z](?=[a-z])/g, (start) => start.replace(". ", "; ").toLowerCase())
    .replace(/\.$/, "");
}

/** The object that a field is, or may be, or has a list of. */
function objectOf(field: JsonSchema): JsonSchema {
  if (field.properties !== undefined) return field;
  const [found] = [...(field.anyOf ?? []), field.items].filter(
    (one): one is JsonSchema =>
      typeof one === "object" && !Array.isArray(one) && objectOf(one).properties !== undefined,
  );
  return found === undefined ? {} : objectOf(found);
}

function isListOf(field: JsonSchema): boolean {
  return field.type === "array" || (field.anyOf ?? []).some((one) => one.type === "array");
}
