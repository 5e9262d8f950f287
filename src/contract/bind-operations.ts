import { type BoundOperation, bindOperation } from "./bind-operation.js";
import { type PathOverrides, bindPaths } from "./bind-paths.js";
import { CONTRACT } from "./contract.js";

/** All rows with their paths. Throws `invalid_option` as {@link bindPaths} does. */
export function bindOperations(overrides?: PathOverrides): BoundOperation[] {
  return bindPaths(overrides).map((bound) => bindOperation(bound, CONTRACT[bound.resource]));
}
