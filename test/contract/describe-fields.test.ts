import { expect, test } from "vitest";
import { z } from "zod";
import { describeFields, describeShape } from "#pigeonhole/contract/describe-fields.js";
import { jsonSchemaOf } from "#pigeonhole/contract/json-schema.js";
import { emailAddress, openEnum, timestamp } from "#pigeonhole/contract/shapes.js";

test.each([
  [z.string().min(1).max(9), "text, 1 to 9 characters"],
  [z.string().max(9).nullable(), "text or null, at most 9 characters"],
  [z.string().regex(/^a/, { error: "Must begin with a." }), "text; must begin with a"],
  [
    z
      .string()
      .refine(() => true, { error: "Must be one." })
      .refine(() => true, { error: "Must be two." }),
    "text; must be one; must be two",
  ],
  [openEnum(["a", "b"]), "text; one of a, b; others are possible"],
  [z.enum(["a", "b"]), "a or b"],
  [z.literal("").or(z.boolean()), "an empty text, or true or false"],
  [timestamp(), "time in ISO 8601 with a zone"],
  [emailAddress(), "email address, at most 320 characters"],
  [z.int().min(1).max(100), "whole number, 1 to 100"],
  [z.int(), "whole number"],
  [z.number(), "number"],
  [z.array(z.string()).max(3).readonly(), "list, at most 3 items of text"],
  [z.looseObject({}).nullable(), "object or null"],
  [z.unknown(), "any JSON value"],
  [z.null(), "null"],
])("a schema is described in words (%#: %s)", (schema, words) => {
  expect(describeShape(jsonSchemaOf(schema as z.ZodType))).toBe(words);
});

test("the fields of an object are described with those of the objects in it", () => {
  const inner = z.strictObject({ b: z.string() });
  const schema = z.strictObject({ a: inner.nullable(), list: z.array(inner).optional() });
  expect(describeFields(jsonSchemaOf(schema)).map(({ name, isRequired }) => [name, isRequired])).toEqual([
    ["a", true],
    ["a.b", true],
    ["list", false],
    ["list[].b", true],
  ]);
});
