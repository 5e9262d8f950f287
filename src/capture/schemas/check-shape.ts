import { formatPath } from "../json/json-path.js";
import { type Shape, SINGLE_KINDS, isOptional } from "./learn-shape.js";

type Keys = readonly (string | number)[];

/** One place where a value does not match its schema. Contains no part of the value. */
export interface Misfit {
  /** Such as `$.recipient`; list positions read `[*]`. */
  path: string;
  /** Such as `is null, the schema says string`. */
  problem: string;
}

/** Every mismatch of a JSON value, including fields that the schema does not name. */
export function checkShape(value: unknown, shape: Shape, keys: Keys = []): Misfit[] {
  const wanted = kindsOf(shape);
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (wanted.length === 0 || (kind === "null" && shape.hasNull)) return [];
  if (!wanted.includes(kind)) {
    const words = `${wanted.join(" or ")}${shape.hasNull ? " or null" : ""}`;
    return [misfit(keys, `is ${kind}, the schema says ${words}`)];
  }
  const { items, object } = shape;
  if (kind === "array" && items !== undefined) {
    return (value as unknown[]).flatMap((item, index) => checkShape(item, items, [...keys, index]));
  }
  return kind === "object" && object !== undefined ? checkFields(value as object, object, keys) : [];
}

function checkFields(value: object, object: NonNullable<Shape["object"]>, keys: Keys): Misfit[] {
  const missing = Object.entries(object.fields)
    .filter(([key, field]) => !isOptional(field, object) && !Object.hasOwn(value, key))
    .map(([key]) => misfit([...keys, key], "is missing, the schema requires it"));
  const present = Object.entries(value).flatMap(([key, field]: [string, unknown]) => {
    const named = Object.hasOwn(object.fields, key) ? object.fields[key] : undefined;
    if (named !== undefined) return checkShape(field, named, [...keys, key]);
    return key === "__proto__" ? [] : [misfit([...keys, key], "is new, the schema does not name it")];
  });
  return [...missing, ...present];
}

/** Empty where only null was seen, or nothing: nothing is known about other values then. */
function kindsOf({ singles, items, object }: Shape): string[] {
  const single = SINGLE_KINDS.filter((kind) => singles.includes(kind));
  return [...single, ...(items === undefined ? [] : ["array"]), ...(object === undefined ? [] : ["object"])];
}

function misfit(keys: Keys, problem: string): Misfit {
  return { path: formatPath(keys).replaceAll(/\[\d+\]/g, "[*]"), problem };
}
