import type * as z from "zod";

type Schema = z.core.$ZodTypes;

/** In place of a key that no schema names, as of a record: it may be a value. */
const ANY_KEY = "*";

/** The path of an issue, of indexes and of names of fields that the schema has. */
export function fieldPath(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let schemas = unwrapAll([schema]);
  return path.map((key) => {
    const isNamed = typeof key === "number" || schemas.some((each) => hasField(each, key));
    schemas = unwrapAll(schemas.flatMap((each) => within(each, key)));
    return isNamed ? String(key) : ANY_KEY;
  });
}

/** The schemas by which a value itself is checked, with those that only hold them. */
function unwrapAll(schemas: readonly z.core.$ZodType[]): Schema[] {
  // A recursive schema holds itself. What is added is gone through too.
  const all = new Set(schemas.flatMap(read));
  for (const each of all) for (const held of heldBy(each).flatMap(read)) all.add(held);
  return [...all];
}

/** Nothing is known of a schema that is not of zod 4. */
const read = (schema: z.core.$ZodType): Schema[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- how zod lets libraries look into schemas
  "_zod" in schema ? [schema as Schema] : [];

function heldBy({ _zod: { def } }: Schema): readonly z.core.$ZodType[] {
  if ("innerType" in def) return [def.innerType];
  if (def.type === "pipe") return [def.in, def.out];
  if (def.type === "union") return def.options;
  if (def.type === "intersection") return [def.left, def.right];
  return def.type === "lazy" ? [def.getter()] : [];
}

function hasField({ _zod: { def } }: Schema, key: PropertyKey): boolean {
  if (def.type === "object") return Object.hasOwn(def.shape, key);
  if (def.type !== "record" || typeof key !== "string") return false;
  const { _zod: keys } = def.keyType;
  return keys.values?.has(key) === true;
}

/** What checks the value at a key. */
function within({ _zod: { def } }: Schema, key: PropertyKey): readonly z.core.$ZodType[] {
  if (def.type === "array") return [def.element];
  if (def.type === "record") return [def.valueType];
  const checked =
    def.type === "object"
      ? ((Object.hasOwn(def.shape, key) ? def.shape[String(key)] : def.catchall) ?? null)
      : def.type === "tuple"
        ? (def.items[Number(key)] ?? def.rest)
        : null;
  return checked === null ? [] : [checked];
}
