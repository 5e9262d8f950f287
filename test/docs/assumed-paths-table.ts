import { type NamedOperation, CONTRACT, listOperations } from "#pigeonhole/contract/contract.js";

/** The paths that the service's documentation does not show, from the rows of the contract. */
export function assumedPathsTable(): string {
  const rows = Object.keys(CONTRACT).flatMap((resource) => {
    const assumed = listOperations().filter((row) => row.resource === resource && row.operation.pathIsAssumed === true);
    return assumed[0] === undefined ? [] : [rowOf(assumed[0], assumed)];
  });
  return ["| not shown | assumed | to change it |", "|---|---|---|", ...rows].join("\n");
}

function rowOf({ resource, name, operation }: NamedOperation, assumed: readonly NamedOperation[]): string {
  const calls = assumed.map((row) => `\`${resource}.${row.name}\``).join(", ");
  const lines = assumed.map(({ operation: { method, path } }) => `${method} ${path}`).join(", ");
  const change = `\`{ ${resource}: { ${name}: "/other${operation.path}" } }\``;
  return `| The paths of ${calls}. | ${lines}. | Option \`paths\` of createClient, such as ${change}. |`;
}
