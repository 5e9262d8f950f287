import { contactEvents } from "./contact-events.js";
import { type Operation, pathNames, takesIdempotencyKey } from "./operation.js";
import { webhooks } from "./webhooks.js";

/** Written out, since an inferred type would be copied into the declarations without the docstrings of its rows. */
export interface Contract {
  readonly contactEvents: typeof contactEvents;
  readonly webhooks: typeof webhooks;
}

/** Every operation by resource and name: the rule book of the API. */
export const CONTRACT: Contract = { contactEvents, webhooks };

/** An operation with where it stands in the contract. */
export interface NamedOperation {
  resource: keyof Contract;
  name: string;
  operation: Operation;
}

/** All rows in order. */
export function listOperations(): NamedOperation[] {
  return (Object.keys(CONTRACT) as (keyof Contract)[]).flatMap((resource) =>
    Object.entries<Operation>(CONTRACT[resource]).map(([name, operation]) => ({ resource, name, operation })),
  );
}

const RETRIES: Record<Operation["retry"], string> = {
  safe: "always",
  "with-key": "with an idempotency key",
  never: "never",
};

/** The contract as a Markdown table, for the README. */
export function operationsTable(): string {
  const rows = listOperations().map(({ resource, name, operation }) => {
    const { method, path, scope, doc, retry } = operation;
    return `| \`${resource}.${name}(${argumentsOf(operation)})\` | \`${method} ${path}\` | \`${scope}\` | ${RETRIES[retry]} | ${doc} |`;
  });
  return ["| call | operation | scope | retried | |", "|---|---|---|---|---|", ...rows].join("\n");
}

function argumentsOf(operation: Operation): string {
  const { body, argument, query, path } = operation;
  const input = body === undefined ? [] : [argument ?? "body"];
  const options = takesIdempotencyKey(operation) ? ["{ idempotencyKey }"] : [];
  return [...pathNames(path), ...input, ...(query === undefined ? [] : ["query?"]), ...options].join(", ");
}
