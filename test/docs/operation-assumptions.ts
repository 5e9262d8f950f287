import { type NamedOperation, CONTRACT, listOperations } from "#pigeonhole/contract/contract.js";

/** The points about single operations that the service's documentation leaves open, from the rows of the contract. */
export function operationAssumptionsTable(): string {
  const rows = Object.keys(CONTRACT)
    .flatMap(assumptionsAbout)
    .map(({ notShown, assumed, change }) => `| ${notShown} | ${assumed} | ${change} |`);
  return ["| not shown | assumed | to change it |", "|---|---|---|", ...rows].join("\n");
}

function assumptionsAbout(resource: string) {
  const rows = listOperations().filter((row) => row.resource === resource);
  const assumed = rows.filter(({ operation }) => operation.pathIsAssumed === true);
  const others = rows.flatMap(({ operation: { assumption } }) => assumption ?? []);
  const [first] = assumed;
  return first === undefined ? others : [pathAssumption(first, assumed), ...others];
}

function pathAssumption({ resource, name, operation }: NamedOperation, assumed: readonly NamedOperation[]) {
  const calls = assumed.map((row) => `\`${resource}.${row.name}\``);
  const lines = assumed.map(({ operation: { method, path } }) => `${method} ${path}`);
  return {
    notShown: `The paths of ${calls.join(", ")}.`,
    assumed: `${lines.join(", ")}.`,
    change: `Option \`paths\` of createClient, such as \`{ ${resource}: { ${name}: "/other${operation.path}" } }\`.`,
  };
}
