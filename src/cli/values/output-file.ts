import { resolve } from "node:path";
import type { CommandContext } from "../frame/context.js";
import { writePrivateFile } from "../../capture/folder/write-private-file.js";

/** Prints a text unchanged, or writes it to the file of `--out` and reports `what`, such as `3 captures`. */
export async function writeOutput(
  text: string,
  file: string | undefined,
  what: string,
  context: CommandContext,
): Promise<void> {
  const { out, cwd } = context;
  if (file === undefined) {
    out.raw(text);
    return;
  }
  await writePrivateFile(resolve(cwd, file), text);
  out.result({ file, what }, `${what} in ${file}.`);
}
