import { PigeonholeError } from "../base/error.js";
import { ASYNCHRONOUS, checkData, readSchema } from "./check-data.js";
import type { SchemaMap } from "./event.js";
import { type StandardSchema, isStandardSchema } from "./standard-schema.js";

const LIBRARIES = "a schema of zod 4, Valibot, ArkType or another library that implements Standard Schema 1";

/** Values that show an asynchronous schema before the first delivery does. */
const PROBES = [undefined, {}, [], "", 0, true];

/** Throws `invalid_option` for what is no schema, and for asynchronous ones as far as {@link PROBES} show them. */
export function checkSchemas(option: string, schemas: SchemaMap): SchemaMap {
  if (typeof schemas !== "object" || Array.isArray(schemas) || isStandardSchema(schemas))
    throw new PigeonholeError("invalid_option", `${option} must be an object with ${LIBRARIES} by event type.`);
  for (const [type, schema] of Object.entries(schemas)) {
    const name = `${option}["${type}"]`;
    if (!isStandardSchema(schema)) throw new PigeonholeError("invalid_option", `${name} must be ${LIBRARIES}.`);
    // From within, because zod gives nobody the promise of a part, which may fail.
    if ([...readSchema(schema).parts].toReversed().some(isAsynchronous))
      throw new PigeonholeError(
        "invalid_option",
        `${name} is asynchronous; schemas must be synchronous. Do in the handler what has to wait.`,
      );
  }
  return schemas;
}

function isAsynchronous(schema: StandardSchema): boolean {
  const checks = PROBES.map((value) => checkData(schema, value));
  return checks.some((check) => !check.ok && check.detail === ASYNCHRONOUS);
}
