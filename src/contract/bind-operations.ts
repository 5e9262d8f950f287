import { PigeonholeError } from "../base/error.js";
import { type Contract, type NamedOperation, listOperations } from "./contract.js";
import { pathNames } from "./operation.js";

/** Other paths for operations, by resource and name; a path must have the same `{…}`. */
export type PathOverrides = {
  [R in keyof Contract]?: { [Name in keyof Contract[R]]?: string | undefined } | undefined;
};

/** A row of the contract with its name and the path that is used. */
export interface BoundOperation extends NamedOperation {
  /** Such as `webhooks.get`. */
  call: string;
  /** The path of the row, or the one set by the option `paths`. */
  path: string;
}

/** All rows with their paths. Throws `invalid_option` for a path of no operation, or that cannot be its path. */
export function bindOperations(overrides: PathOverrides = {}): BoundOperation[] {
  const rest = new Map<string, string>(
    Object.entries(overrides).flatMap(([resource, paths]) =>
      Object.entries<string | undefined>(paths ?? {}).flatMap(([name, path]) =>
        path === undefined ? [] : [[`${resource}.${name}`, path] as const],
      ),
    ),
  );
  const bound = listOperations().map((row): BoundOperation => {
    const call = `${row.resource}.${row.name}`;
    const path = rest.get(call) ?? row.operation.path;
    rest.delete(call);
    return { ...row, call, path: checkPath(call, path, row.operation.path) };
  });
  const [unknown] = rest.keys();
  if (unknown === undefined) return bound;
  throw new PigeonholeError("invalid_option", `paths.${unknown} names no operation.`);
}

function checkPath(call: string, path: string, original: string): string {
  const sameNames = pathNames(path).toSorted().join() === pathNames(original).toSorted().join();
  if (sameNames && /^(?:\/(?:\{\w+\}|[\w~-][\w.~-]*))+$/.test(path)) return path;
  throw new PigeonholeError(
    "invalid_option",
    `paths.${call} must be a path such as ${original}, with the same names in braces.`,
  );
}

/** The row as an emulator on this machine takes it: with any http or https URL of an endpoint. */
export function allowLocalUrls(bound: BoundOperation): BoundOperation {
  const { localBody } = bound.operation;
  return localBody === undefined ? bound : { ...bound, operation: { ...bound.operation, body: localBody } };
}
