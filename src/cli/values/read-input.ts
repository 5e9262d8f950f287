import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";

/** The bytes of a file, or of standard input for `-`. Errors name the flag. */
export async function readInput(flag: string, path: string, context: CommandContext): Promise<Buffer> {
  if (path !== "-") {
    return readFile(resolve(context.cwd, path)).catch((error: NodeJS.ErrnoException) => {
      const why = error.code === "ENOENT" ? "does not exist" : "cannot be read";
      throw usageError(`${flag}: the file ${path} ${why}.`);
    });
  }
  if (context.stdin.isTTY) throw usageError(`${flag} -: nothing is piped in; give a file or pipe the bytes.`);
  const chunks: Buffer[] = [];
  for await (const chunk of context.stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}
