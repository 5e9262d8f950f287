import { z } from "zod";

/** A value of a query as text; undefined for one that is left out. A list is separated by commas. */
export function encodeQueryValue(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(String).join(",");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/**
 * The value that a text of a query stands for, by the schema of its field: a number, a boolean, a list or the text. A
 * text that is none of them stays as it is, for the schema to refuse.
 */
export function decodeQueryText(field: unknown, text: string): unknown {
  const schema = unwrap(field);
  if (schema instanceof z.ZodNumber) return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
  if (schema instanceof z.ZodBoolean) return text === "true" || (text === "false" ? false : text);
  if (!(schema instanceof z.ZodArray)) return text;
  return text === "" ? [] : text.split(",").map((item) => decodeQueryText(schema.element, item));
}

/** The schema of a field that may be left out. */
function unwrap(field: unknown): unknown {
  return field instanceof z.ZodOptional || field instanceof z.ZodReadonly ? unwrap(field.unwrap()) : field;
}
