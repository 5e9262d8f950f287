import type * as specs from "./spec.js";
import { isPigeonholeError } from "../../base/error.js";
import { exportCaptures } from "../../capture/export/export-captures.js";
import { type Imported, parseImport } from "../../capture/export/import-captures.js";
import type { CaptureReader } from "../../capture/folder/read-capture-folder.js";
import type { Capture } from "../../capture/model/capture.js";
import { fromInbox } from "../../capture/model/from-inbox.js";
import { createRedactor } from "../../capture/redact/redactor.js";
import { escapeControls } from "../../base/text.js";
import { usageError, EXIT } from "../frame/command-error.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { openCaptures, readCaptures, pickCaptures } from "../values/capture-store.js";
import { allRows, withInbox } from "../values/find-inbox.js";
import { countOf } from "../frame/format.js";
import { readInput } from "../values/read-input.js";
import { findSigningSecret } from "../values/secret-option.js";
import { resolve } from "node:path";
import { writePrivateFile } from "../../capture/folder/write-private-file.js";

export const exportSelected: RunCommand<typeof specs.capturesExport> = async ({ args, options, context }) => {
  const { as, fromInbox: database, to, out } = options;
  const reader = database === undefined ? readCaptures(context) : await readInbox(database, context);
  const selected = pickCaptures({ reader, words: args.selection }, context);
  const redact = options.redact ?? (database === undefined ? "none" : "default");
  const captures = redact === "none" ? selected : selected.map(createRedactor({ profile: redact }));
  const secret = as === "curl" ? findSigningSecret(options.secret, context) : undefined;
  const { text } = exportCaptures(captures, { as, target: to, secret: secret?.value });
  if (secret === undefined && as === "curl") {
    context.out.note("No secret was found, so the captured signatures are in it; they are old.");
  }
  if (out === undefined) {
    context.out.raw(text);
    return;
  }
  await writePrivateFile(resolve(context.cwd, out), text);
  const what = countOf(captures.length, "capture");
  context.out.result({ file: out, what }, `${what} in ${out}.`);
};

/** Of an inbox, as its captures are in memory. */
const MAX_EVENTS = 10_000;

/** The newest events of a receiver as captures. */
const readInbox = (database: string, context: CommandContext): Promise<CaptureReader> =>
  withInbox(database === "" ? undefined : database, context, async (inbox) => {
    const captures: Capture[] = [];
    let dropped = 0;
    for await (const { id } of allRows(MAX_EVENTS, (page) => inbox.listEvents(page))) {
      const event = await inbox.getEvent(id);
      if (event === undefined || event.body === null) dropped += 1;
      else captures.push(fromInbox({ ...event, body: event.body }));
    }
    if (dropped > 0)
      context.out.note(`${countOf(dropped, "event")} left out: the body was dropped by retention or erased.`);
    return { list: () => captures, get: (id) => captures.find((capture) => capture.id === id) };
  });

export const importFiles: RunCommand<typeof specs.capturesImport> = async ({ args, context }) => {
  const { out } = context;
  // Read before the folder is created, so that a wrong path leaves nothing behind.
  const texts: [file: string, text: string][] = [];
  for (const file of args.files) texts.push([file, (await readInput("<files>", file, context)).toString("utf8")]);
  const folder = openCaptures(context);
  let hasProblems = false;
  for (const [file, text] of texts) {
    const { captures, problems } = readImport(file, text);
    for (const capture of captures) await folder.add(capture);
    for (const problem of problems) out.note(`${escapeControls(file)}: ${escapeControls(problem)}`);
    hasProblems ||= problems.length > 0;
    const words = `${countOf(captures.length, "capture")} from ${escapeControls(file)}.`;
    out.result({ file, captures: captures.map(({ id }) => id), problems }, words);
  }
  await folder.flush();
  return hasProblems ? EXIT.failed : EXIT.ok;
};

/** One of several files may not be readable. */
function readImport(file: string, text: string): Imported {
  try {
    return parseImport(text);
  } catch (error) {
    if (!isPigeonholeError(error)) throw error;
    throw usageError(`${escapeControls(file)}: ${error.message}`);
  }
}
