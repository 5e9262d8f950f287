import { PigeonholeError } from "../../base/error.js";
import type { BoundOperation } from "../../contract/bind-operations.js";
import { SandboxApiError } from "../api/api-handlers.js";

/** An operation with the pattern of its path, which has a group for each parameter. */
export interface OperationRoute {
  bound: BoundOperation;
  pattern: RegExp;
}

/** An operation whose path it is, and the parameters of the path. */
export interface FoundOperation {
  bound: BoundOperation;
  params: Readonly<Record<string, string>>;
}

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

/** Finds the operations of a path, which is encoded and without the query, in the order of the routes. */
export function matchRoutes(routes: readonly OperationRoute[], path: string): FoundOperation[] {
  return routes.flatMap(({ bound, pattern }) => {
    const match = pattern.exec(path);
    const params = match === null ? undefined : decodeParams(match.groups ?? {});
    return params === undefined ? [] : [{ bound, params }];
  });
}

/** The first one with this method. */
export function ofMethod(matches: readonly FoundOperation[], method: string): FoundOperation | undefined {
  return matches.find(({ bound }) => bound.operation.method === method);
}

/** The refusal of a request without an operation: 404 for a path that none has, and 405 for another method. */
export function noOperation(matches: readonly FoundOperation[]): SandboxApiError {
  if (matches.length === 0) return new SandboxApiError({ code: "resource_not_found" });
  const allow = matches.map(({ bound }) => bound.operation.method).join(", ");
  const [code, message] = ["method_not_allowed", `Use ${allow}.`] as const;
  return new SandboxApiError({ status: 405, code, message, headers: { allow } });
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
