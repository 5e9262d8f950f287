import { API_ASSUMPTIONS, type ApiAssumption } from "./assumptions.js";
import type { Operation } from "./operation.js";

/** The assumption that an operation's path is one; undefined when the service's documentation shows the path. */
export function findPathAssumption({ method, path }: Operation): ApiAssumption | undefined {
  const line = `${method} ${path}`;
  return API_ASSUMPTIONS.find(({ assumed }) => assumedPaths(assumed).includes(line));
}

function assumedPaths(text: string): string[] {
  return text.match(/\b(?:GET|POST|PUT|PATCH|DELETE) \/[\w/{}-]+/g) ?? [];
}
