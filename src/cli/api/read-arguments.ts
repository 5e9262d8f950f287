import { describeFields } from "../../contract/describe-fields.js";
import { jsonSchemaOf } from "../../contract/json-schema.js";
import { type Operation, pathNames, takesIdempotencyKey } from "../../contract/operation.js";
import { decodeQueryText } from "../../contract/query-text.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput } from "../frame/context.js";
import { nearestWord } from "../../base/nearest-word.js";
import { readInput } from "../values/read-input.js";
import { exampleLine } from "./describe-call.js";
import type { api } from "./spec.js";

/** The arguments of the client's function: parameters, body, query, options. Errors name the flag and what it takes. */
export async function readArguments(
  call: string,
  operation: Operation,
  input: CommandInput<typeof api>,
): Promise<unknown[]> {
  const { options, args, context } = input;
  const { contentType, idempotencyKey } = options;
  refuseUseless(call, operation, input);
  return [
    ...readParams(call, operation, args.params),
    ...(operation.body === undefined && operation.uploads === undefined
      ? []
      : [await readBody(call, operation, input)]),
    ...(operation.query === undefined ? [] : [readQuery(call, operation.query, options.query)]),
    {
      signal: context.signal,
      ...(contentType !== undefined && { contentType }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    },
  ];
}

/** An option that the call does not have would be lost without a word. */
function refuseUseless(call: string, operation: Operation, { options }: CommandInput<typeof api>): void {
  const { body, uploads, query, paged, downloads } = operation;
  const useless: [flag: string, isGiven: boolean, isTaken: boolean, what: string][] = [
    ["--query", options.query.length > 0, query !== undefined, "has no query"],
    ["--body", options.body !== undefined, body !== undefined || uploads !== undefined, "takes no body"],
    ["--content-type", options.contentType !== undefined, uploads !== undefined, "uploads no file"],
    [
      "--idempotency-key",
      options.idempotencyKey !== undefined,
      takesIdempotencyKey(operation),
      "takes no idempotency key",
    ],
    ["--all", options.all, paged === true, "is no list with pages"],
    ["--out", options.out !== undefined, downloads === true, "downloads no file"],
  ];
  const found = useless.find(([, isGiven, isTaken]) => isGiven && !isTaken);
  if (found !== undefined) throw usageError(`${found[0]}: ${call} ${found[3]}. ${seeHelp(call)}`);
}

function readParams(call: string, operation: Operation, given: readonly string[]): readonly string[] {
  const names = pathNames(operation.path);
  const missing = names[given.length];
  if (missing !== undefined) {
    const fields = operation.params === undefined ? [] : describeFields(jsonSchemaOf(operation.params));
    const shape = fields.find(({ name }) => name === missing)?.shape ?? "text";
    throw usageError(`${call} needs <${missing}>: ${shape}. For example: ${exampleLine(call, operation)}`);
  }
  if (given.length > names.length) {
    const takes = names.length === 0 ? "no parameters" : names.map((name) => `<${name}>`).join(" ");
    throw usageError(`${call} takes ${takes}; there are too many. ${seeHelp(call)}`);
  }
  return given;
}

function readQuery(
  call: string,
  schema: NonNullable<Operation["query"]>,
  pairs: readonly string[],
): Record<string, unknown> {
  const query: Record<string, string> = {};
  const names = Object.keys(schema.shape);
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const name = at === -1 ? pair : pair.slice(0, at);
    if (!names.includes(name)) {
      const near = nearestWord(name, names);
      const hint = near === undefined ? `It has ${names.join(", ")}.` : `Did you mean ${near}?`;
      throw usageError(`--query: ${call} has no field ${name}. ${hint}`);
    }
    if (at === -1) throw usageError(`--query ${name}: give its value too, as ${name}=value.`);
    if (query[name] !== undefined)
      throw usageError(`--query: ${name} is given twice. Separate the items of a list by commas.`);
    query[name] = pair.slice(at + 1);
  }
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => [name, decodeQueryText(schema.shape[name], text)]),
  );
}

async function readBody(
  call: string,
  operation: Operation,
  { options, context }: CommandInput<typeof api>,
): Promise<unknown> {
  const { body, argument, uploads } = operation;
  const given = options.body;
  if (uploads !== undefined) {
    if (given?.startsWith("@") === true) return await readInput("--body", given.slice(1), context);
    throw usageError(`${call} needs --body @file, or --body @- for standard input.`);
  }
  if (body === undefined) return undefined;
  if (given === undefined) return emptyBody(call, operation, body);
  const isFile = given.startsWith("@");
  const text = isFile ? (await readInput("--body", given.slice(1), context)).toString("utf8") : given;
  const value = parseJson(text, isFile ? `the content of ${given.slice(1)}` : "it");
  const isWhole =
    typeof value === "object" && value !== null && argument !== undefined && Object.hasOwn(value, argument);
  return isWhole ? (value as Record<string, unknown>)[argument] : value;
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usageError(`--body: ${what} is not JSON. Give JSON in single quotes, @file, or @- for standard input.`);
  }
}

/** A call whose fields may all be left out needs no body. */
function emptyBody(call: string, operation: Operation, body: NonNullable<Operation["body"]>): Record<string, never> {
  const needed = describeFields(jsonSchemaOf(body)).filter(({ name, isRequired }) => isRequired && !/[.[]/.test(name));
  if (needed.length === 0) return {};
  const fields = needed.map(({ name, shape }) => `${name} (${shape})`).join(", ");
  throw usageError(`${call} needs --body with ${fields}. For example: ${exampleLine(call, operation)}`);
}

/** Where a person reads on. */
export function seeHelp(call: string): string {
  return `See pigeonhole api ${call} --help.`;
}
