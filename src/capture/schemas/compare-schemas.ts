import { PigeonholeError } from "../../base/error.js";
import type { Capture } from "../model/capture.js";
import { checkValue } from "./check-value.js";
import { groupData } from "./group-data.js";
import { SchemaReader } from "./schema-reader.js";
import type { SchemaNode } from "./schema-node.js";

/** One way in which captures differ from a module of schemas. */
export interface SchemaDrift {
  type: string;
  /** Path within `data`, such as `$.recipient`; `$` for the whole type. */
  path: string;
  /** Such as `is null, the schema says string`. */
  problem: string;
  /** Number of captures that show it. */
  captures: number;
  /** Id of the first of them. */
  example: string;
}

const CONSTANT = /^export const (\w+) =\s*/gm;
const ROW = /^\s*(?:"((?:[^"\\]|\\.)*)"|(\w+)): (\w+),?$/gm;

/**
 * Compares a module of `generateSchemas` with captures: types without a schema, fields that are new or missing, values
 * of another type. Parses the text and runs none of it. Throws `invalid_argument` for a text that is not such a module.
 */
export function compareSchemas(text: string, captures: readonly Capture[]): SchemaDrift[] {
  const schemas = readModule(text);
  const drifts = new Map<string, SchemaDrift>();
  const note = (capture: Capture, type: string, path: string, problem: string): void => {
    const key = JSON.stringify([type, path, problem]);
    const known = drifts.get(key) ?? { type, path, problem, captures: 0, example: capture.id };
    drifts.set(key, { ...known, captures: known.captures + 1 });
  };
  for (const capture of captures) {
    for (const [type, samples] of groupData([capture])) {
      const schema = schemas.get(type);
      if (schema === undefined) note(capture, type, "$", "has no schema");
      else {
        const misfits = samples.flatMap((data) => checkValue(data, schema));
        // Counted once per capture: a list can show the same mismatch many times.
        const distinct = new Map(misfits.map((misfit) => [JSON.stringify(misfit), misfit]));
        for (const { path, problem } of distinct.values()) note(capture, type, path, problem);
      }
    }
  }
  return [...drifts.values()].toSorted((a, b) => order(a.type, b.type) || order(a.path, b.path));
}

function readModule(text: string): Map<string, SchemaNode> {
  const constants = new Map<string, SchemaNode>();
  let listAt: number | undefined;
  for (const match of text.matchAll(CONSTANT)) {
    const [source, name = ""] = match;
    const at = match.index + source.length;
    if (name === "schemas") listAt = at;
    else constants.set(name, new SchemaReader(text, at).readSchema());
  }
  if (listAt === undefined) {
    throw new PigeonholeError(
      "invalid_argument",
      "The file has no `export const schemas`; write it with captures types.",
    );
  }
  const list = text.slice(listAt, text.indexOf("}", listAt));
  const schemas = new Map<string, SchemaNode>();
  for (const [, quoted, plain, name = ""] of list.matchAll(ROW)) {
    const schema = constants.get(name);
    const type = quoted === undefined ? plain : (JSON.parse(`"${quoted}"`) as string);
    if (schema !== undefined && type !== undefined) schemas.set(type, schema);
  }
  return schemas;
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
