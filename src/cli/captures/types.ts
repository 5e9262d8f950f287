import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import type { Capture } from "../../capture/model/capture.js";
import { describeCaptures, generateSchemas } from "../../capture/schemas/generate-schemas.js";
import type { RunCommand } from "../frame/context.js";
import type { capturesTypes } from "./spec.js";
import { readCaptures, pickCaptures } from "../values/capture-store.js";
import { countOf } from "../frame/format.js";

export const showTypes: RunCommand<typeof capturesTypes> = async ({ args, options, context }) => {
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
