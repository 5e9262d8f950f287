import { z } from "zod";
import type { Operation } from "./operation.js";

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** What is sent, or what an answer has, as JSON Schema. A rule that JSON Schema cannot say is in `description`. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const rules = rulesOf(zodSchema);
      if (rules.length > 0) jsonSchema.description ??= rules.join(" ");
      // The format says it, and the pattern is long.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return rest;
}

/** The answer of an operation as JSON Schema; undefined when it is a file. */
export function answerSchemaOf({ result, paged }: Operation): JsonSchema | undefined {
  if (result === undefined) return undefined;
  const schema = jsonSchemaOf(result);
  return paged === true ? onlyData(schema) : (schema.anyOf?.find(isList) ?? schema);
}

/** The row of a list, paged or not; undefined for another answer. */
export function rowSchemaOf(answer: JsonSchema): JsonSchema | undefined {
  const list = answer.type === "array" ? answer : answer.properties?.["data"];
  return typeof list === "object" && typeof list.items === "object" ? (list.items as JsonSchema) : undefined;
}

/** A page without the other names of its rows and its cursor that the client reads too. */
function onlyData(page: JsonSchema): JsonSchema {
  if (page.allOf !== undefined) {
    const parts = page.allOf.map((part) => onlyData(part));
    return { type: "object", properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as never };
  }
  const { items: _, pageToken: __, ...properties } = page.properties ?? {};
  return { ...page, properties, required: ["data", ...(page.required ?? [])] };
}

function isList(schema: JsonSchema): boolean {
  return schema.properties?.["data"] !== undefined;
}

/** The sentences of the rules that are functions or regular expressions. */
function rulesOf(schema: z.core.$ZodType): string[] {
  return (definitionOf(schema).checks ?? []).flatMap((check) => {
    const def = definitionOf(check);
    if (def.check !== "custom" && def.check !== "string_format") return [];
    const said = def.error?.({ code: "custom", input: undefined, path: [] } as never);
    return typeof said === "string" ? [said] : [];
  });
}

function definitionOf<Definition>(part: { _zod: { def: Definition } }): Definition {
  // oxlint-disable-next-line no-underscore-dangle -- the documented place of a definition, for libraries on zod
  return part._zod.def;
}
