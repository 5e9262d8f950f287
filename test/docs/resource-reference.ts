import { type Contract, CONTRACT, listOperations } from "#pigeonhole/contract/contract.js";
import { type Operation, pathNames, takesIdempotencyKey } from "#pigeonhole/contract/operation.js";
import { describeScopes } from "#pigeonhole/contract/scopes.js";
import { tableOf } from "./markdown.js";

/** What each resource is. */
const RESOURCES: Record<keyof Contract, string> = {
  chats: "conversations with the assistant",
  contactEvents: "events of contacts",
  contacts: "contacts, audiences and people",
  drafts: "drafts and their search",
  files: "attachments, uploads and public links",
  forms: "sign-up forms and sign-ups",
  keys: "API keys and their logs",
  labels: "labels and their colors",
  mailboxes: "mailboxes that stay at another provider",
  roles: "permissions of members and keys",
  sending: "lanes of outgoing mail, and dedicated IPs",
  signatures: "signatures of addresses",
  tools: "checks of the records of any domain",
  webhooks: "endpoints, their deliveries and secrets",
};
/** From the README. */
const PAGE = "docs/api.md";
const NAMES = Object.keys(CONTRACT) as (keyof Contract)[];

/** The resources of the API, each with its place in the reference. */
export function resourcesList(): string {
  return NAMES.map((resource) => `[\`${resource}\`](${PAGE}#client${resource.toLowerCase()})`).join(", ");
}

/** All calls by resource, one line each. */
export function resourceReference(): string {
  return NAMES.map((resource) => {
    const what = RESOURCES[resource];
    const title = `#### client.${resource}`;
    return [title, `${what.charAt(0).toUpperCase()}${what.slice(1)}.`, operationsTable(resource)].join("\n\n");
  }).join("\n\n");
}

const REPEATED = new Set<Operation["retry"]>(["repeatable", "with-key"]);

/** The operations of one resource; ↻ is a write that is repeated. */
function operationsTable(only: keyof Contract): string {
  const rows = listOperations()
    .filter(({ resource }) => resource === only)
    .map(({ resource, name, operation }) => {
      const mark = REPEATED.has(operation.retry) ? " ↻" : "";
      const call = `\`${resource}.${name}(${argumentsOf(operation)})\`${mark}`;
      return [call, operation.doc, describeScopes(operation.scope, "`")];
    });
  return tableOf(["call", "", "scope"], rows);
}

function argumentsOf(operation: Operation): string {
  const { body, argument, query, path, uploads } = operation;
  return [
    ...pathNames(path),
    ...(body === undefined ? [] : [argument ?? "body"]),
    ...(uploads === undefined ? [] : ["data"]),
    ...(query === undefined ? [] : [query.safeParse({}).success ? "query?" : "query"]),
    ...(takesIdempotencyKey(operation) ? ["{ idempotencyKey }"] : []),
  ].join(", ");
}
