import { PigeonholeError } from "../../base/error.js";
import type { Capture } from "../model/capture.js";
import { checkShape } from "./check-shape.js";
import { groupData } from "./group-data.js";
import type { Shape } from "./learn-shape.js";

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

/** Before the schemas as JSON, which are the last line of a module. */
export const CHECK_MARK = "// For captures types --check: ";

/**
 * Compares a module of `generateSchemas` with captures: types without a schema, fields that are new or missing, values
 * of another type. Runs none of it. Throws `invalid_argument` for a text that is not such a module.
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
        const misfits = samples.flatMap((data) => checkShape(data, schema));
        // Counted once per capture: a list can show the same mismatch many times.
        const distinct = new Map(misfits.map((misfit) => [JSON.stringify(misfit), misfit]));
        for (const { path, problem } of distinct.values()) note(capture, type, path, problem);
      }
    }
  }
  return [...drifts.values()].toSorted((a, b) => order(a.type, b.type) || order(a.path, b.path));
}

function readModule(text: string): ReadonlyMap<string, Shape> {
  try {
    const at = text.lastIndexOf(`\n${CHECK_MARK}`);
    return new Map(JSON.parse(text.slice(at + 1 + CHECK_MARK.length)) as [string, Shape][]);
  } catch {
    throw new PigeonholeError(
      "invalid_argument",
      "The file does not end with schemas to check; write it again with captures types.",
    );
  }
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
