import { CONTRACT, listOperations } from "#pigeonhole/contract/contract.js";

/** The paths that the service's documentation does not show, from the rows of the contract. */
export function assumedPathsTable(): string {
  const assumed = listOperations().filter(({ operation }) => operation.pathIsAssumed === true);
  const rows = Object.keys(CONTRACT).flatMap((resource) => {
    const own = assumed.filter((row) => row.resource === resource);
    const calls = own.map(({ name }) => `\`${resource}.${name}\``).join(", ");
    const paths = own.map(({ operation: { method, path } }) => `${method} ${path}`).join(", ");
    return own.length === 0 ? [] : [`| ${calls} | ${paths} |`];
  });
  return ["| calls | assumed paths |", "|---|---|", ...rows].join("\n");
}
