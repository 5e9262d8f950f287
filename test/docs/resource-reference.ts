import { API_ERROR_CODES } from "#pigeonhole/contract/api-error-codes.js";
import { type Contract, type NamedOperation, CONTRACT, listOperations } from "#pigeonhole/contract/contract.js";
import { describeFields } from "#pigeonhole/contract/describe-fields.js";
import { answerSchemaOf, jsonSchemaOf, rowSchemaOf } from "#pigeonhole/contract/json-schema.js";
import { type Operation, pathNames } from "#pigeonhole/contract/operation.js";
import { operationsTable } from "./operations-table.js";

/** What each resource is. */
const RESOURCES: Record<keyof Contract, string> = {
  chats: "conversations with the assistant",
  contactEvents: "what contacts did",
  contacts: "contacts, audiences and people",
  drafts: "drafts and their search",
  files: "attachments, uploads and public links",
  forms: "sign-up forms and sign-ups",
  keys: "API keys and their logs",
  labels: "labels and their colors",
  mailboxes: "mailboxes that stay at another provider",
  roles: "what members and keys may do",
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

/** All calls by resource: what they do, take and answer, and their errors. */
export function resourceReference(): string {
  return NAMES.map((resource) => {
    const what = RESOURCES[resource];
    return [
      `#### client.${resource}`,
      `${what.charAt(0).toUpperCase()}${what.slice(1)}.`,
      operationsTable(resource),
      ...rowsOf(resource).map(callSection),
    ].join("\n\n");
  }).join("\n\n");
}

function rowsOf(resource: keyof Contract): NamedOperation[] {
  return listOperations().filter((row) => row.resource === resource);
}

function callSection({ resource, name, operation }: NamedOperation): string {
  const { method, path, errors, status, uploads, fires } = operation;
  const assumption = operation.pathIsAssumed === true ? " (the path is assumed)" : "";
  const fields = fieldRows(operation);
  const codes = errors.map((code) => `\`${code}\` ${API_ERROR_CODES[code].status.join(" or ")}`).join(" · ");
  const takes = fields.length === 0 ? [] : [["| field | | |", "|---|---|---|", ...fields].join("\n")];
  return [
    `**\`${resource}.${name}\`** \`${method} ${path}\`${assumption}`,
    ...takes,
    ...(uploads === undefined ? [] : [`The body is the bytes of the file, at most ${uploads.maxBytes}.`]),
    `Answers ${status.join(" or ")}: ${answerWords(operation)}.`,
    ...(fires === undefined ? [] : [`Fires ${fires.map((type) => `\`${type}\``).join(", ")}.`]),
    `Errors: ${codes}`,
  ].join("\n\n");
}

function fieldRows({ params, query, body, path }: Operation): string[] {
  const parts = [
    ["path", params],
    ["query", query],
    ["body", body],
  ] as const;
  return parts.flatMap(([place, schema]) => {
    const fields = schema === undefined ? [] : describeFields(jsonSchemaOf(schema));
    const names = pathNames(path);
    const ordered =
      place === "path" ? fields.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name)) : fields;
    return ordered.map(({ name, shape, isRequired }) => {
      const words = shape.replaceAll(/[|*_<]/g, String.raw`\$&`);
      return `| ${place} \`${name}\` | ${words} | ${isRequired ? "required" : ""} |`;
    });
  });
}

function answerWords(operation: Operation): string {
  const answer = answerSchemaOf(operation);
  if (answer === undefined) return "the bytes of the file";
  const row = rowSchemaOf(answer);
  const names = describeFields(row ?? answer).filter(({ name }) => !/[.[]/.test(name));
  const listed = names.map(({ name }) => `\`${name}\``).join(", ");
  if (row === undefined) return listed;
  return `${operation.paged === true ? "a page of rows" : "rows"} with ${listed}`;
}
