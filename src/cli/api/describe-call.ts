import { API_ERROR_CODES } from "../../contract/api-error-codes.js";
import type { NamedOperation } from "../../contract/contract.js";
import { describeFields } from "../../contract/describe-fields.js";
import { errorCodesOf } from "../../contract/error-codes-of.js";
import { answerSchemaOf, jsonSchemaOf, rowSchemaOf } from "../../contract/json-schema.js";
import { type Operation, pathNames } from "../../contract/operation.js";
import { describeScopes } from "../../contract/scopes.js";
import { quoteForShell } from "../../base/text.js";
import { formatTable } from "../frame/format.js";
import type { Paint } from "../frame/output.js";

/** A call by its name, such as `contacts.get`. */
export interface NamedCall {
  call: string;
  row: NamedOperation;
}

/** All that the contract says of a call: fields, answer, errors, an example. */
export function describeCall({ call, row }: NamedCall, paint: Paint): string {
  const { operation } = row;
  const { method, path, pathIsAssumed, fires, doc, params, query, body } = operation;
  const sections = [
    ["Parameters", params],
    ["--query", query],
    ["--body", body],
  ] as const;
  return [
    `${paint.bold(call)}  ${method} ${path}`,
    doc,
    "",
    `${needsOf(operation)} ${RETRIES[operation.retry]}`,
    ...(fires === undefined ? [] : [`It fires ${fires.join(", ")}.`]),
    ...(pathIsAssumed === true ? ["The path is an assumption: the service's documentation does not show it."] : []),
    ...sections.flatMap(([title, schema]) =>
      schema === undefined ? [] : section(title, fieldLines(jsonSchemaOf(schema), true), paint),
    ),
    ...(operation.uploads === undefined ? [] : section("--body", [["@file", "the bytes of the file"]], paint)),
    ...answerSection(operation, paint),
    ...section("Errors", errorCodesOf(operation).map(errorLine), paint),
    ...section("Example", [[exampleLine(call, operation)]], paint),
  ].join("\n");
}

function needsOf({ scope, credential }: Operation): string {
  if (credential === "none") return "It is open to everyone, and no key is sent.";
  return scope === null ? "It needs a key with any scope." : `It needs the scope ${describeScopes(scope)}.`;
}

const RETRIES: Record<Operation["retry"], string> = {
  safe: "It changes nothing, and is retried.",
  repeatable: "A repeat changes nothing, so it is retried.",
  "with-key": "With --idempotency-key it is retried.",
  never: "It is sent once.",
};

/** A command line with the values of the contract's example. */
export function exampleLine(call: string, { path, example, uploads, downloads }: Operation): string {
  const params = pathNames(path).map((name) => quoteForShell(example.params?.[name] ?? ""));
  const query = Object.entries(example.query ?? {}).flatMap(([name, value]) => [
    "--query",
    quoteForShell(`${name}=${String(value)}`),
  ]);
  const body = example.body === undefined ? [] : ["--body", quoteForShell(JSON.stringify(example.body))];
  const bytes = uploads === undefined ? [] : ["--body", "@file"];
  const out = downloads === true ? ["--out", "file"] : [];
  return ["pigeonhole api", call, ...params, ...query, ...body, ...bytes, ...out].join(" ");
}

function answerSection(operation: Operation, paint: Paint): string[] {
  const answer = answerSchemaOf(operation);
  if (answer === undefined) return section("Answer", [["the bytes of the file"]], paint);
  const row = rowSchemaOf(answer);
  const title =
    row === undefined ? "Answer" : operation.paged === true ? "Answer: pages of rows with" : "Answer: rows with";
  return section(title, fieldLines(row ?? answer, false), paint);
}

function fieldLines(schema: Parameters<typeof describeFields>[0], isInput: boolean): string[][] {
  return describeFields(schema).map(({ name, shape, isRequired }) => [
    name,
    isInput && isRequired ? `${shape} (required)` : shape,
  ]);
}

function errorLine(code: keyof typeof API_ERROR_CODES): string[] {
  const { status, meaning } = API_ERROR_CODES[code];
  return [code, status.join(" or "), meaning];
}

function section(title: string, lines: readonly (readonly string[])[], paint: Paint): string[] {
  if (lines.length === 0) return [];
  const width = Math.max(...lines.map((line) => line.length));
  const header = Array.from({ length: width }, (_, column) => (column === 0 ? `${title}:` : ""));
  return [
    "",
    formatTable(
      header,
      lines.map(([first = "", ...rest]) => [`  ${first}`, ...rest]),
      paint.dim,
    ),
  ];
}
