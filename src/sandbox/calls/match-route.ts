import { PigeonholeError } from "../../base/error.js";
import type { BoundOperation } from "../../contract/bind-operations.js";
import { SandboxApiError } from "../api/api-handlers.js";

/** An operation with the pattern of its path, which has a group for each parameter. */
export interface OperationRoute {
  bound: BoundOperation;
  pattern: RegExp;
}

/** An operation, and the parameters of its path. */
export interface FoundOperation {
  kind: "found";
  bound: BoundOperation;
  params: Readonly<Record<string, string>>;
}

export type OperationMatch =
  | FoundOperation
  /** The path exists; `allow` lists its methods. */
  | { kind: "wrong_method"; allow: string }
  | { kind: "unknown_path" };

/**
 * Routes in the order in which they are tried: a literal before a parameter. Throws `invalid_option` if two are alike.
 */
export function createRoutes(operations: readonly BoundOperation[]): readonly OperationRoute[] {
  const seen = new Map<string, string>();
  for (const { call, path, operation } of operations) {
    const key = `${operation.method} ${shapeOf(path)}`;
    const other = seen.get(key);
    if (other !== undefined) {
      throw new PigeonholeError("invalid_option", `paths.${call} cannot be distinguished from the path of ${other}.`);
    }
    seen.set(key, call);
  }
  return operations
    .toSorted((a, b) => (shapeOf(a.path) < shapeOf(b.path) ? -1 : 1))
    .map((bound) => ({ bound, pattern: patternOf(bound.path) }));
}

/** Finds the operation of a request. `path` is encoded, without the query. */
export function matchRoute(routes: readonly OperationRoute[], method: string, path: string): OperationMatch {
  const matches = routes.flatMap(({ bound, pattern }) => {
    const match = pattern.exec(path);
    const params = match === null ? undefined : decodeParams(match.groups ?? {});
    return params === undefined ? [] : [{ kind: "found" as const, bound, params }];
  });
  const found = matches.find(({ bound }) => bound.operation.method === method);
  if (found !== undefined) return found;
  const allow = matches.map(({ bound }) => bound.operation.method).join(", ");
  return allow === "" ? { kind: "unknown_path" } : { kind: "wrong_method", allow };
}

/** Throws 404 for a path that no operation has, and 405 for another method. */
export function requireFound(match: OperationMatch): FoundOperation {
  switch (match.kind) {
    case "found":
      return match;
    case "unknown_path":
      throw new SandboxApiError({ code: "resource_not_found" });
    case "wrong_method": {
      const { allow } = match;
      const [code, message] = ["method_not_allowed", `Use ${allow}.`] as const;
      throw new SandboxApiError({ status: 405, code, message, headers: { allow } });
    }
  }
}

/** Undefined when one cannot be decoded. */
function decodeParams(groups: Record<string, string>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    return undefined;
  }
}

/** The path with each parameter as a sign that sorts after every literal. */
function shapeOf(path: string): string {
  return path.replaceAll(/\{\w+\}/g, "~");
}

function patternOf(path: string): RegExp {
  const literal = path.replaceAll(".", String.raw`\.`);
  return new RegExp(`^${literal.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}
