import type { BoundPath } from "./bind-paths.js";
import type { Operation, Resource } from "./operation.js";

/** A row of the contract with its name and the path that is used. */
export interface BoundOperation extends BoundPath {
  operation: Operation;
}

/** The row of a name among those of its resource. */
export function bindOperation(bound: BoundPath, rows: Resource): BoundOperation {
  const operation = rows[bound.name];
  if (operation === undefined) throw new Error(`The contract has no ${bound.call}.`);
  return { ...bound, operation };
}

/** The row as an emulator on this machine takes it: with any http or https URL of an endpoint. */
export function allowLocalUrls(bound: BoundOperation): BoundOperation {
  const { localBody } = bound.operation;
  return localBody === undefined ? bound : { ...bound, operation: { ...bound.operation, body: localBody } };
}
