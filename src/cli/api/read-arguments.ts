import { type Operation, pathNames, takesIdempotencyKey } from "../../contract/operation.js";
import { decodeQueryText } from "../../contract/query-text.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput } from "../frame/context.js";
import { readInput } from "../values/flag-values.js";
import { exampleLine } from "./describe-call.js";
import type { api } from "./spec.js";

type Input = CommandInput<typeof api>;

/** The arguments of the client's function: parameters, body, query, options. Errors name the flag and what it takes. */
export async function readArguments(call: string, operation: Operation, input: Input): Promise<unknown[]> {
  const { options, args, context } = input;
  const { contentType, idempotencyKey } = options;
  refuseUseless(call, operation, input);
  return [
    ...readParams(call, operation, args.params),
    ...((operation.body ?? operation.uploads) === undefined ? [] : [await readBody(call, operation, input)]),
    ...(operation.query === undefined ? [] : [readQuery(operation.query, options.query)]),
    {
      signal: context.signal,
      ...(contentType !== undefined && { contentType }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    },
  ];
}

/** An option that the call does not have would be lost without a word. */
function refuseUseless(call: string, operation: Operation, { options }: Input): void {
  const { body, uploads, query, paged, downloads } = operation;
  const { contentType, idempotencyKey, out } = options;
  const useless: [flag: string, isGiven: boolean, isTaken: boolean, what: string][] = [
    ["--query", options.query.length > 0, query !== undefined, "has no query"],
    ["--body", options.body !== undefined, (body ?? uploads) !== undefined, "takes no body"],
    ["--content-type", contentType !== undefined, uploads !== undefined, "uploads no file"],
    ["--idempotency-key", idempotencyKey !== undefined, takesIdempotencyKey(operation), "takes no idempotency key"],
    ["--all", options.all, paged === true, "is no list with pages"],
    ["--out", out !== undefined, downloads === true, "downloads no file"],
  ];
  const found = useless.find(([, isGiven, isTaken]) => isGiven && !isTaken);
  if (found !== undefined) throw usageError(`${found[0]}: ${call} ${found[3]}. ${seeHelp(call)}`);
}

function readParams(call: string, operation: Operation, given: readonly string[]): readonly string[] {
  const names = pathNames(operation.path);
  const missing = names[given.length];
  if (missing !== undefined) {
    throw usageError(`${call} needs <${missing}>. For example: ${exampleLine(call, operation)}`);
  }
  if (given.length > names.length) {
    const takes = names.length === 0 ? "no parameters" : names.map((name) => `<${name}>`).join(" ");
    throw usageError(`${call} takes ${takes}; there are too many. ${seeHelp(call)}`);
  }
  return given;
}

function readQuery(schema: NonNullable<Operation["query"]>, pairs: readonly string[]): Record<string, unknown> {
  const query = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const name = at === -1 ? pair : pair.slice(0, at);
    if (at === -1) throw usageError(`--query ${name}: give its value too, as ${name}=value.`);
    if (query.has(name)) throw usageError(`--query: ${name} is given twice. Separate the items of a list by commas.`);
    query.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries([...query].map(([name, text]) => [name, decodeQueryText(schema.shape[name], text)]));
}

async function readBody(call: string, { body, argument, uploads }: Operation, input: Input): Promise<unknown> {
  const { options, context } = input;
  const given = options.body;
  if (uploads !== undefined) {
    if (given?.startsWith("@") === true) return await readInput("--body", given.slice(1), context);
    throw usageError(`${call} needs --body @file, or --body @- for standard input.`);
  }
  if (body === undefined) return undefined;
  // A call whose fields may all be left out needs no body; the client says what another one lacks.
  if (given === undefined) return {};
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

/** Where a person reads on. */
export function seeHelp(call: string): string {
  return `See pigeonhole api ${call} --help.`;
}
