import { type ApiAssumption, GENERAL_ASSUMPTIONS } from "./assumptions.js";
import { type NamedOperation, CONTRACT, listOperations } from "./contract.js";

/** Every point about the API that the service's documentation leaves open and this package relies on. */
export const API_ASSUMPTIONS: readonly ApiAssumption[] = [
  ...GENERAL_ASSUMPTIONS,
  ...Object.keys(CONTRACT).flatMap(assumptionsAbout),
];

/** The ids of those about one operation. */
export function assumptionIds({ resource, name, operation }: NamedOperation): string[] {
  return [
    ...(operation.pathIsAssumed === true ? [pathsId(resource)] : []),
    ...(operation.assumption === undefined ? [] : [callId(resource, name)]),
  ];
}

function pathsId(resource: string): string {
  return `${resource}.paths`;
}

function callId(resource: string, name: string): string {
  return `${resource}.${name}`;
}

/** Those about the operations of a resource. */
function assumptionsAbout(resource: string): ApiAssumption[] {
  const rows = listOperations().filter((row) => row.resource === resource);
  const assumed = rows.filter(({ operation }) => operation.pathIsAssumed === true);
  const others = rows.flatMap(({ name, operation: { assumption } }) =>
    assumption === undefined ? [] : [{ id: callId(resource, name), ...assumption }],
  );
  const [first] = assumed;
  return first === undefined ? others : [pathAssumption(first, assumed), ...others];
}

function pathAssumption(
  { resource, name, operation }: NamedOperation,
  assumed: readonly NamedOperation[],
): ApiAssumption {
  const calls = assumed.map((row) => `\`${callId(resource, row.name)}\``);
  const lines = assumed.map(({ operation: { method, path } }) => `${method} ${path}`);
  return {
    id: pathsId(resource),
    notShown: `The paths of ${calls.join(", ")}.`,
    assumed: `${lines.join(", ")}.`,
    change: `Option \`paths\` of createClient, such as \`{ ${resource}: { ${name}: "/other${operation.path}" } }\`.`,
  };
}
