import { type NamedOperation, listOperations } from "#pigeonhole/contract/contract.js";
import { describeScopes } from "#pigeonhole/contract/scopes.js";
import { type Operation, pathNames, takesIdempotencyKey } from "#pigeonhole/contract/operation.js";

const REPEATED = new Set<Operation["retry"]>(["repeatable", "with-key"]);

/** The operations of one resource as a Markdown table; ↻ is a write that is repeated. */
export function operationsTable(only: NamedOperation["resource"]): string {
  const rows = listOperations()
    .filter(({ resource }) => resource === only)
    .map(({ resource, name, operation }) => {
      const mark = REPEATED.has(operation.retry) ? " ↻" : "";
      const call = `\`${resource}.${name}(${argumentsOf(operation)})\`${mark}`;
      return `| ${call} | ${operation.doc} | ${describeScopes(operation.scope, "`")} |`;
    });
  return ["| call | | scope |", "|---|---|---|", ...rows].join("\n");
}

function argumentsOf(operation: Operation): string {
  const { body, argument, query, path, uploads } = operation;
  const input = [...(body === undefined ? [] : [argument ?? "body"]), ...(uploads === undefined ? [] : ["data"])];
  const options = takesIdempotencyKey(operation) ? ["{ idempotencyKey }"] : [];
  return [
    ...pathNames(path),
    ...input,
    ...(query === undefined ? [] : [query.safeParse({}).success ? "query?" : "query"]),
    ...options,
  ].join(", ");
}
