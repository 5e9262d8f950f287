import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Capture } from "../../capture/model/capture.js";
import { compareSchemas } from "../../capture/schemas/compare-schemas.js";
import { generateSchemas } from "../../capture/schemas/generate-schemas.js";
import { escapeControls } from "../../base/escape-controls.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { EXIT, type ExitCode } from "../frame/exit-code.js";
import type { capturesTypes } from "./spec.js";
import { readCaptures, pickCaptures } from "../values/capture-store.js";
import { countOf } from "../frame/format.js";
import { readInput } from "../values/read-input.js";

export const showTypes: RunCommand<typeof capturesTypes> = async ({ args, options, context }) => {
  const words = args.selection.length === 0 ? ["all"] : args.selection;
  const captures = pickCaptures({ reader: readCaptures(options.store, context), words, store: options.store }, context);
  if (options.check !== undefined) return check(options.check, captures, context);
  const text = generateSchemas(captures);
  if (options.out === undefined) context.out.raw(text);
  else {
    // Source code: readable like any other file of the project.
    await writeFile(resolve(context.cwd, options.out), text);
    context.out.result({ file: options.out }, `Schemas from ${countOf(captures.length, "capture")} in ${options.out}.`);
  }
  return EXIT.ok;
};

async function check(file: string, captures: readonly Capture[], context: CommandContext): Promise<ExitCode> {
  const { out } = context;
  const text = (await readInput("--check", file, context)).toString("utf8");
  const drifts = compareSchemas(text, captures);
  for (const drift of drifts) {
    const { type, path, problem, captures: count, example } = drift;
    const words = `${type}  ${path}  ${problem}  (${countOf(count, "capture")}, such as ${example})`;
    out.result({ drift }, `${out.paint.red("✗")} ${escapeControls(words)}`);
  }
  if (drifts.length === 0) out.note(`${countOf(captures.length, "capture")} fit ${file}.`);
  return drifts.length === 0 ? EXIT.ok : EXIT.failed;
}
