import { PigeonholeError } from "../../base/error.js";
import type { BoundOperation } from "../../contract/bind-operations.js";

/** An operation with the segments of its path. */
export interface OperationRoute {
  bound: BoundOperation;
  /** A literal, or a parameter's name in braces. */
  segments: readonly string[];
}

export type OperationMatch =
  | { kind: "found"; bound: BoundOperation; params: Record<string, string> }
  /** The path exists; `allow` lists its methods. */
  | { kind: "wrong_method"; allow: string }
  | { kind: "unknown_path" };

/**
 * Routes in the order in which they are tried: a literal before a parameter. Throws `invalid_option` if two are alike.
 */
export function createRoutes(operations: readonly BoundOperation[]): readonly OperationRoute[] {
  const routes = operations.map((bound) => ({ bound, segments: bound.path.split("/").slice(1) }));
  const seen = new Map<string, string>();
  for (const { bound, segments } of routes) {
    const key = `${bound.operation.method} ${segments.map((part) => (isParameter(part) ? "{}" : part)).join("/")}`;
    const other = seen.get(key);
    if (other !== undefined) {
      throw new PigeonholeError(
        "invalid_option",
        `paths.${bound.call} cannot be distinguished from the path of ${other}.`,
      );
    }
    seen.set(key, bound.call);
  }
  return routes.toSorted((a, b) => compareText(shapeOf(a), shapeOf(b)));
}

/** Finds the operation of a request. `path` is encoded, without the query. */
export function matchRoute(routes: readonly OperationRoute[], method: string, path: string): OperationMatch {
  const parts = decodeSegments(path);
  if (parts === undefined) return { kind: "unknown_path" };
  const allowed: string[] = [];
  for (const { bound, segments } of routes) {
    const params = matchSegments(segments, parts);
    if (params === undefined) continue;
    if (bound.operation.method === method) return { kind: "found", bound, params };
    allowed.push(bound.operation.method);
  }
  return allowed.length === 0 ? { kind: "unknown_path" } : { kind: "wrong_method", allow: allowed.join(", ") };
}

function matchSegments(segments: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  if (segments.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const part = parts[index] ?? "";
    if (isParameter(segment) && part !== "") params[segment.slice(1, -1)] = part;
    else if (segment !== part) return undefined;
  }
  return params;
}

function decodeSegments(path: string): string[] | undefined {
  if (!path.startsWith("/")) return undefined;
  try {
    return path.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function isParameter(segment: string): boolean {
  return segment.startsWith("{");
}

/** One character per segment, so that a literal sorts before a parameter. */
function shapeOf({ segments }: OperationRoute): string {
  return segments.map((segment) => (isParameter(segment) ? "1" : "0")).join("");
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
