import { type NamedOperation, listOperations } from "#pigeonhole/contract/contract.js";
import { describeScopes } from "#pigeonhole/contract/scopes.js";
import { type Operation, pathNames, takesIdempotencyKey } from "#pigeonhole/contract/operation.js";

const RETRIES: Record<Operation["retry"], string> = {
  safe: "always",
  repeatable: "always",
  "with-key": "with a key",
  never: "never",
};

/** The operations of one resource as a Markdown table. A † stands behind a path that is assumed. */
export function operationsTable(only: NamedOperation["resource"]): string {
  const rows = listOperations()
    .filter(({ resource }) => resource === only)
    .map(({ resource, name, operation }) => {
      const { method, path, scope, doc, retry } = operation;
      const mark = operation.pathIsAssumed === true ? " †" : "";
      return `| \`${resource}.${name}(${argumentsOf(operation)})\` | \`${method} ${path}\`${mark} | ${describeScopes(scope, "`")} | ${RETRIES[retry]} | ${doc} |`;
    });
  return ["| call | operation | scope | retried | |", "|---|---|---|---|---|", ...rows].join("\n");
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
