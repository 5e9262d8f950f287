import type { BodyFields } from "./body-fields.js";
import { readSegment } from "./path-segment.js";

/** One request of the page. */
export interface WebCall {
  /** The part of the path in place of `{id}`, decoded; empty without one. */
  id: string;
  query: URLSearchParams;
  /** Fields of the JSON body; none for a GET. */
  body: BodyFields;
}

/** One path of an API. */
export interface WebRoute {
  method: "GET" | "POST";
  /** With `{id}` in place of one segment. */
  path: string;
  handle(call: WebCall): unknown;
}

/** The result for one request. */
export type RouteMatch<Route = WebRoute> =
  | { kind: "found"; route: Route; id: string }
  | { kind: "no_such_path" }
  | { kind: "wrong_method" };

/** Finds the route. A path that accepts only the other method gets its own result. */
export function findRoute<Route extends Pick<WebRoute, "method" | "path">>(
  routes: readonly Route[],
  method: string,
  path: string,
): RouteMatch<Route> {
  const segments = path.split("/");
  const fitting = routes.flatMap((route) => {
    const id = matchPath(route.path.split("/"), segments);
    return id === undefined ? [] : [{ route, id }];
  });
  const found = fitting.find(({ route }) => route.method === method);
  if (found !== undefined) return { kind: "found", ...found };
  return { kind: fitting.length > 0 ? "wrong_method" : "no_such_path" };
}

function matchPath(pattern: readonly string[], segments: readonly string[]): string | undefined {
  if (pattern.length !== segments.length) return undefined;
  let id = "";
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? "";
    if (part === "{id}") {
      const decoded = readSegment(segment);
      if (decoded === undefined || decoded === "") return undefined;
      id = decoded;
    } else if (part !== segment) return undefined;
  }
  return id;
}
