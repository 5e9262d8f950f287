import { resolve } from "node:path";
import type { Download } from "../../client/download.js";
import type { PagePromise } from "../../client/page-promise.js";
import type { Page } from "../../contract/paging.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext, CommandInput } from "../frame/context.js";
import { formatJson } from "../frame/format.js";
import { openClient } from "../values/api-client.js";
import { explainRefusal } from "./explain-refusal.js";
import type { Named } from "./find-call.js";
import { readArguments } from "./read-arguments.js";
import type { api } from "./spec.js";

type AnyCalls = Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;

/** Sends a call and prints its answer. */
export async function sendCall(
  named: Extract<Named, { kind: "call" }>,
  input: CommandInput<typeof api>,
): Promise<void> {
  const { options, context } = input;
  const { call, row } = named;
  const { resource, name, operation } = row;
  const args = await readArguments(call, operation, input);
  if (operation.downloads === true && options.out === undefined && context.out.isTerminal) {
    throw usageError(`${call} gives the bytes of a file: give --out <file>, or pipe them.`);
  }
  // The types of the client are those of its rows; here any row is called.
  const client = openClient(options, context) as unknown as AnyCalls;
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
