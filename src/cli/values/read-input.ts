import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";

const MIB = 1024 * 1024;

/** Most bytes that are read from a file or standard input. The content is copied in memory several times. */
export const MAX_INPUT_BYTES = 100 * MIB;

/** The bytes of a file, or of standard input for `-`, at most 100 MiB. Errors name the flag. */
export async function readInput(flag: string, path: string, context: CommandContext): Promise<Buffer> {
  if (path === "-" && context.stdin.isTTY) {
    throw usageError(`${flag} -: nothing is piped in; give a file or pipe the bytes.`);
  }
  const stream = path === "-" ? context.stdin : createReadStream(resolve(context.cwd, path));
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk as Buffer);
      size += bytes.byteLength;
      // Counted while reading: a pipe or a device has no known size.
      if (size > MAX_INPUT_BYTES) break;
      chunks.push(bytes);
    }
  } catch (error) {
    const why =
      error instanceof Error && "code" in error && error.code === "ENOENT" ? "does not exist" : "cannot be read";
    throw usageError(`${flag}: ${path === "-" ? "standard input" : `the file ${path}`} ${why}.`);
  }
  if (size <= MAX_INPUT_BYTES) return Buffer.concat(chunks);
  const what = path === "-" ? "standard input" : `the file ${path}`;
  throw usageError(
    `${flag}: ${what} holds more than ${MAX_INPUT_BYTES / MIB} MiB. Split it, and give each part by itself.`,
  );
}
