import { z } from "zod";
import { lazy } from "../base/lazy.js";
import { WHOLE_CHARACTERS } from "../protocol/envelope.js";

/** ISO 8601 with a zone, as callers must write it. See docs/service.md#timestamps. */
export const timestamp = lazy(() =>
  z.iso.datetime({
    offset: true,
    error: "Must be an ISO 8601 date-time with a zone, such as 2026-01-31T09:30:00Z.",
  }),
);

/** True for a field that is a {@link timestamp}, optional or not. */
export function isTimestamp(field: unknown): boolean {
  return (field instanceof z.ZodOptional ? field.unwrap() : field) === timestamp();
}

/** Longest address, in characters. */
export const MAX_ADDRESS_LENGTH = 320;

/** An address as callers write it: at most 320 characters. Deliberately wide: the service decides the rest. */
export const emailAddress = lazy(() =>
  z
    .email({ pattern: z.regexes.unicodeEmail, error: "Must be an email address." })
    .max(MAX_ADDRESS_LENGTH, { error: `Must have at most ${MAX_ADDRESS_LENGTH} characters.` }),
);

/** Text of `min` to `max` characters. */
export function textOf(min: number, max: number, text = z.string()) {
  const most = { error: `Must have at most ${max.toLocaleString("en")} characters.` };
  return text.min(min, { error: "Must not be empty." }).max(max, most);
}

/** Text that is not empty. */
export function someText() {
  return z.string().min(1, { error: "Must not be empty." });
}

/** A whole number in a range. */
export function wholeNumberOf(min: number, max: number) {
  const range = { error: `Must be a whole number from ${min} to ${max}.` };
  return z.int(range).min(min, range).max(max, range);
}

/** The parameters of a path with one id; `rule` says what the id must be. */
export function idParams(pattern: RegExp, rule: string) {
  return z.strictObject({ id: z.string().regex(pattern, { error: rule }) });
}

/** One path segment that no URL parser reads as `.` or `..`. */
export function pathSegment(maxLength: number) {
  return textOf(1, maxLength)
    .refine((text) => text !== "." && text !== "..", { error: "Must not be a dot or two dots." })
    .refine((text) => WHOLE_CHARACTERS.test(text), { error: "Must be well-formed Unicode." });
}

/** A name that people read: trimmed, 1 to `maxLength` characters. */
export function trimmedName(maxLength: number) {
  return textOf(1, maxLength, z.string().trim());
}

/** Text that is one of these today. Others pass if they fit `schema`. */
export function openEnum<const Value extends string>(values: readonly Value[], schema: z.ZodString = z.string()) {
  const described: z.ZodType<string> = schema.describe(`One of ${values.join(", ")}; others are possible.`);
  // The type keeps the known values for the editor and allows any other text.
  return described as z.ZodType<Value | (string & {}), Value | (string & {})>;
}

/** A field of a result that may be null. A missing field reads as null. */
export function nullable<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null);
}

/** The answer to a deletion, with what names the deleted thing. See docs/service.md#tombstones. */
export function tombstoneOf<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.looseObject({ object: z.string(), ...fields, deleted: z.boolean() });
}

/** Header of the key. See docs/service.md#idempotency-keys. */
export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

/**
 * Up to 255 letters, digits, `_`, `.`, `:` and `-`; anything else is 400 `invalid_idempotency_key`. See
 * docs/service.md#idempotency-keys.
 */
export const idempotencyKey = z.string().regex(/^[A-Za-z0-9_.:-]{1,255}$/, {
  error: "Must be 1 to 255 letters, digits, underscores, dots, colons or dashes.",
});
