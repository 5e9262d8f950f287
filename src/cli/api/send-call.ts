import { resolve } from "node:path";
import type { Download } from "../../client/download.js";
import type { PagePromise } from "../../client/call-types.js";
import type { Page } from "../../contract/paging.js";
import { usageError, CommandError, EXIT } from "../frame/command-error.js";
import type { CommandContext, CommandInput } from "../frame/context.js";
import { formatJson } from "../frame/format.js";
import { openClient } from "../values/api-client.js";
import type { NamedCall } from "./describe-call.js";
import { readArguments, seeHelp } from "./read-arguments.js";
import { CALL_NAMES } from "../../contract/contract.js";
import type { api } from "./spec.js";
import { ApiError, InvalidInputError } from "../../client/errors.js";
import { API_ERROR_CODES } from "../../contract/api-error-codes.js";
import { describeScopes } from "../../contract/scopes.js";
import { SECOND } from "../../base/duration.js";

type AnyCalls = Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;

/** Sends a call and prints its answer. */
export async function sendCall(named: NamedCall, input: CommandInput<typeof api>): Promise<void> {
  const { options, context } = input;
  const { call, row } = named;
  const { resource, name, operation } = row;
  const args = await readArguments(call, operation, input);
  if (operation.downloads === true && options.out === undefined && context.out.isTerminal) {
    throw usageError(`${call} gives the bytes of a file: give --out <file>, or pipe them.`);
  }
  // The types of the client are those of its rows; here any row is called.
  const client = openClient(context) as unknown as AnyCalls;
  try {
    const answer = client[resource]?.[name]?.(...args);
    if (operation.downloads === true) await printFile(call, (await answer) as Download, options.out, context);
    else if (options.all) await printRows(call, answer as PagePromise<unknown>, context);
    else printAnswer(call, await answer, context);
  } catch (error) {
    throw explainRefusal(error, named);
  }
}

function printAnswer(call: string, result: unknown, { out }: CommandContext): void {
  out.result({ call, result }, formatJson(JSON.stringify(result)));
  if (isPage(result) && result.hasMore) out.note("There are more rows: --all prints every one.");
}

async function printRows(call: string, rows: AsyncIterable<unknown>, { out }: CommandContext): Promise<void> {
  for await (const item of rows) out.result({ call, item }, formatJson(JSON.stringify(item)));
}

async function printFile(
  call: string,
  file: Download,
  path: string | undefined,
  { out, cwd }: CommandContext,
): Promise<void> {
  if (path === undefined) {
    const reader = file.stream().getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) out.raw(part.value);
    return;
  }
  const { contentType, filename = null } = file;
  const { bytes } = await file.saveTo(resolve(cwd, path));
  out.result({ call, file: path, bytes, contentType, filename }, `${bytes} bytes in ${path}.`);
}

function isPage(result: unknown): result is Page<unknown> {
  return typeof result === "object" && result !== null && "hasMore" in result;
}

/** The error with the meaning of its code, and what to do; any other error as it is. */
function explainRefusal(error: unknown, named: NamedCall): unknown {
  if (error instanceof InvalidInputError) {
    return new CommandError(EXIT.usage, error.code, `${error.message.replace(/[^.]$/, "$&.")} ${seeHelp(named.call)}`, {
      cause: error,
    });
  }
  if (!(error instanceof ApiError)) return error;
  const wrong = (error.fields ?? []).map((field) => `${field.key}: ${field.error}.`);
  const said = [error.message, meaningOf(error.code), ...wrong, adviceOn(error, named)];
  return new CommandError(EXIT.unreachable, error.code, said.filter((part) => part !== "").join(" "), { cause: error });
}

function meaningOf(code: string): string {
  return Object.hasOwn(API_ERROR_CODES, code) ? API_ERROR_CODES[code as keyof typeof API_ERROR_CODES].meaning : "";
}

function adviceOn({ code, status, retryAfterMs }: ApiError, { call, row }: NamedCall): string {
  if (status < 300) return "It took effect; read what it did before you call again.";
  if (code === "insufficient_scope") return `Use a key with the scope ${describeScopes(row.operation.scope)}.`;
  if (code === "capability_unsupported") return "Use a key that is limited to no addresses and domains.";
  if (code === "invalid_cursor") return "Begin the list again, without a cursor.";
  if (status === 401) return "Check the key of PIGEONHOLE_API_KEY, and that it belongs to this API.";
  if (status === 403) return "Use the key of someone who may do it.";
  if (status === 404) {
    const list = `${row.resource}.list`;
    return CALL_NAMES.includes(list) && list !== call ? `pigeonhole api ${list} shows what there is.` : "";
  }
  if (status === 429) {
    return retryAfterMs === undefined ? "Call again later." : `Call again in ${Math.ceil(retryAfterMs / SECOND)} s.`;
  }
  if (status >= 500) return "The service failed, or something in front of it. Call again later.";
  return seeHelp(call);
}
