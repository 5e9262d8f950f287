import { PigeonholeError } from "../base/error.js";
import type { Contract } from "./contract.js";
import { OPERATION_INDEX } from "./operation-index.js";
import { pathNames } from "./operation.js";

/** Other paths for operations, by resource and name; a path must have the same `{…}`. */
export type PathOverrides = {
  [R in keyof Contract]?: { [Name in keyof Contract[R]]?: string | undefined } | undefined;
};

/** An operation by its name, with the path that is used. */
export interface BoundPath {
  resource: keyof Contract;
  name: string;
  /** Such as `webhooks.get`. */
  call: string;
  /** The path of the row, or the one set by the option `paths`. */
  path: string;
  /** True for a list. */
  paged: boolean;
}

/** All operations with their paths. Throws `invalid_option` for a path of no operation, or that cannot be its path. */
export function bindPaths(overrides: PathOverrides = {}): BoundPath[] {
  const rest = new Map<string, string>(
    Object.entries(overrides).flatMap(([resource, paths]) =>
      Object.entries<string | undefined>(paths ?? {}).flatMap(([name, path]) =>
        path === undefined ? [] : [[`${resource}.${name}`, path] as const],
      ),
    ),
  );
  const bound = listIndex().map((entry) => {
    const path = rest.get(entry.call) ?? entry.path;
    rest.delete(entry.call);
    return { ...entry, path: checkPath(entry.call, path, entry.path) };
  });
  const [unknown] = rest.keys();
  if (unknown === undefined) return bound;
  throw new PigeonholeError("invalid_option", `paths.${unknown} names no operation.`);
}

function listIndex(): BoundPath[] {
  return (Object.keys(OPERATION_INDEX) as (keyof Contract)[]).flatMap((resource) =>
    Object.entries<{ path: string; paged?: true }>(OPERATION_INDEX[resource]).map(
      ([name, { path, paged = false }]): BoundPath => ({ resource, name, call: `${resource}.${name}`, path, paged }),
    ),
  );
}

function checkPath(call: string, path: string, original: string): string {
  const sameNames = pathNames(path).toSorted().join() === pathNames(original).toSorted().join();
  if (sameNames && /^(?:\/(?:\{\w+\}|[\w~-][\w.~-]*))+$/.test(path)) return path;
  throw new PigeonholeError(
    "invalid_option",
    `paths.${call} must be a path such as ${original}, with the same names in braces.`,
  );
}
