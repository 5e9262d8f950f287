import { resolve } from "node:path";
import { writeFile } from "node:fs/promises";
import { exportCaptures } from "../../capture/export/export-captures.js";
import type { CaptureReader } from "../../capture/folder/load-folder.js";
import type { Capture } from "../../capture/model/capture.js";
import { fromInbox } from "../../capture/model/from-inbox.js";
import { createRedactor } from "../../capture/redact/redactor.js";
import { writePrivateFile } from "../../capture/folder/private-folder.js";
import { PigeonholeError } from "../../base/error.js";
import { describeCaptures, generateSchemas } from "../../capture/schemas/generate-schemas.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { readCaptures, pickCaptures } from "../values/capture-store.js";
import { allRows, withInbox } from "../values/find-inbox.js";
import { countOf } from "../frame/format.js";
import { findSigningSecret } from "../values/secret-option.js";
import type * as specs from "./spec.js";

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

export const exportTypes: RunCommand<typeof specs.capturesTypes> = async ({ args, options, context }) => {
  const words = args.selection.length === 0 ? ["all"] : args.selection;
  const picked = pickCaptures({ reader: readCaptures(context), words }, context);
  const captures = options.samples ? picked : picked.filter(isReal);
  const left = picked.length - captures.length;
  const note = left === 0 ? "" : ` ${countOf(left, "sample")} of this package left out; --samples includes them.`;
  if (captures.length === 0) {
    throw new PigeonholeError("no_capture", `There is no capture of a real delivery.${note}`);
  }
  const text = generateSchemas(captures);
  if (options.out === undefined) {
    context.out.raw(text);
    if (note !== "") context.out.note(note.trimStart());
  } else {
    // Source code: readable like any other file of the project.
    await writeFile(resolve(context.cwd, options.out), text);
    const learned = `${options.out} has schemas from ${describeCaptures(captures)}.${note}`;
    context.out.result({ file: options.out, captures: captures.length, left }, learned);
  }
};

/** Samples of this package have made-up data, which says nothing of the service's. */
const isReal = ({ source }: Capture): boolean => source !== "trigger" && source !== "sandbox";
