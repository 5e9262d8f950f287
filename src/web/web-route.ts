import type { DashboardRole, PayloadAccess } from "./api/session.js";
import type { BodyFields } from "./body-fields.js";
import { PageApiError } from "./page-api-error.js";
import { readSegment } from "./path-segment.js";

/** Who sends a request, and what they may do. */
export interface Viewer {
  name: string;
  role: DashboardRole;
  payloads: PayloadAccess;
}

/** One request of the page, by a person who may make it. */
export interface WebCall {
  /** The part of the path in place of `{id}`, decoded; empty without one. */
  id: string;
  query: URLSearchParams;
  /** Fields of the JSON body; none for a GET. */
  body: BodyFields;
  person: Viewer;
}

/** One operation of an API. All who look may GET, and those who act may POST. */
export interface WebRoute {
  /** Method and path, with `{id}` in place of one segment. */
  at: `${"GET" | "POST"} /${string}`;
  /** For one that those who may see payloads may call, and nobody else. */
  needs?: "payload";
  /** True for one that shows people who may see all contacts, or finds errors, as they are: logged with the name. */
  quotes?: true;
  handle(call: WebCall): unknown;
}

/** Finds the operation; undefined for a path that has none. Throws the answer for one that takes the other method. */
export function findRoute(
  routes: readonly WebRoute[],
  method: string,
  path: string,
): { route: WebRoute; id: string } | undefined {
  const fitting = routes.flatMap((route) => {
    const [of, pattern = ""] = route.at.split(" ");
    const id = matchPath(pattern.split("/"), path.split("/"));
    return id === undefined ? [] : [{ route, id, of }];
  });
  const found = fitting.find(({ of }) => of === method);
  if (found !== undefined || fitting.length === 0) return found;
  throw new PageApiError(405, { code: "wrong_method", message: `This path does not take ${method}.` });
}

/** The answer for a path that has no operation. */
export function noSuchPath(): PageApiError {
  return new PageApiError(404, { code: "no_such_path", message: "There is no such path." });
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
