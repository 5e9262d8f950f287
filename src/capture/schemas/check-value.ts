import { formatPath } from "../json/json-path.js";
import type { SchemaNode } from "./schema-node.js";
import { hasFormat } from "./string-format.js";

type Keys = readonly (string | number)[];

/** One place where a value does not match its schema. Contains no part of the value. */
export interface Misfit {
  /** Such as `$.recipient`; list positions read `[*]`. */
  path: string;
  /** Such as `is null, the schema says string`. */
  problem: string;
}

/** Every mismatch of a JSON value, including fields that the schema does not name. */
export function checkValue(value: unknown, node: SchemaNode, keys: Keys = []): Misfit[] {
  switch (node.kind) {
    case "unknown":
      return [];
    case "nullable":
      return value === null ? [] : checkValue(value, node.inner, keys);
    case "union": {
      const results = node.members.map((member) => checkValue(value, member, keys));
      // A mismatch with the member of the same kind says more than "none of these".
      const sameKind = node.members.findIndex((member) => kindOfNode(member) === kindOfValue(value));
      return results.find(({ length }) => length === 0) ?? results[sameKind] ?? mismatch(value, node, keys);
    }
    case "array":
      if (!Array.isArray(value)) return mismatch(value, node, keys);
      return (value as unknown[]).flatMap((item, index) => checkValue(item, node.element, [...keys, index]));
    case "record":
      if (kindOfValue(value) !== "object") return mismatch(value, node, keys);
      return Object.entries(value as object).flatMap(([key, field]) => checkValue(field, node.value, [...keys, key]));
    case "object":
      return kindOfValue(value) === "object" ? checkFields(value as object, node, keys) : mismatch(value, node, keys);
    case "boolean":
    case "number":
    case "string":
    case "enum":
      return fits(value, node) ? [] : mismatch(value, node, keys);
  }
}

function checkFields(value: object, node: Extract<SchemaNode, { kind: "object" }>, keys: Keys): Misfit[] {
  const known = new Map(node.fields);
  const missing = node.fields
    .filter(([key, { optional }]) => !optional && !Object.hasOwn(value, key))
    .map(([key]) => misfit([...keys, key], "is missing, the schema requires it"));
  const present = Object.entries(value).flatMap(([key, field]: [string, unknown]) => {
    const named = known.get(key);
    if (named !== undefined) return checkValue(field, named.schema, [...keys, key]);
    return key === "__proto__" ? [] : [misfit([...keys, key], "is new, the schema does not name it")];
  });
  return [...missing, ...present];
}

type LeafKind = "boolean" | "number" | "string" | "enum";
type Leaf = Extract<SchemaNode, { kind: LeafKind }>;

function fits(value: unknown, node: Leaf): boolean {
  switch (node.kind) {
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return typeof value === "number" && (!node.whole || Number.isSafeInteger(value));
    case "enum":
      return typeof value === "string" && node.values.includes(value);
    case "string":
      if (typeof value !== "string") return false;
      if (node.format !== null) return hasFormat(value, node.format);
      return node.prefix === null || value.startsWith(node.prefix);
  }
}

function mismatch(value: unknown, node: SchemaNode, keys: Keys): Misfit[] {
  const [found, wanted] = [kindOfValue(value), nameOf(node)];
  const kind = kindOfNode(node) === found ? `another ${found}` : found;
  return [misfit(keys, `is ${kind}, the schema says ${wanted}`)];
}

function misfit(keys: Keys, problem: string): Misfit {
  return { path: formatPath(keys).replaceAll(/\[\d+\]/g, "[*]"), problem };
}

function kindOfValue(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function kindOfNode(node: SchemaNode): string {
  if (node.kind === "enum") return "string";
  return node.kind === "record" ? "object" : node.kind;
}

function nameOf(node: SchemaNode): string {
  switch (node.kind) {
    case "string":
      return node.format ?? (node.prefix === null ? "string" : `string that begins with ${node.prefix}`);
    case "enum":
      return `one of ${node.values.join(", ")}`;
    case "number":
      return node.whole ? "whole number" : "number";
    case "union":
      return node.members.map(nameOf).join(" or ");
    case "nullable":
      return `${nameOf(node.inner)} or null`;
    case "record":
      return "object";
    case "unknown":
    case "boolean":
    case "array":
    case "object":
      return node.kind;
  }
}
