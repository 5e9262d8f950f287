import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { isPigeonholeError } from "../../base/error.js";
import { parseTarget, targetUrl } from "../../capture/send/target.js";
import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { refusedAs, usageError } from "../frame/command-error.js";
import { flagName } from "../frame/spec.js";
import type { CommandContext } from "../frame/context.js";

/** Reads a target like {@link parseTarget}; the error names the flag. */
export function readTarget(flag: string, text: string): URL {
  return refusedAs(
    (message) => `${flag}: ${message}`,
    () => parseTarget(text),
  );
}

/** The URL to post a delivery to; a target without a path gets the usual one. */
export function readWebhookUrl(flag: string, text: string): string {
  return targetUrl(readTarget(flag, text).href, { path: DEFAULT_ENDPOINT_PATH, query: "" });
}

/**
 * Waits for work that checks its options itself, and changes its errors to name the flag instead of the option. `flags`
 * has the options whose flag differs from their name with dashes.
 */
export async function withFlagNames<Result>(
  flags: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isPigeonholeError(error, "invalid_option") && !isPigeonholeError(error, "port_in_use")) throw error;
    const toFlag = (name: string): string => flags[name] ?? flagName(name);
    throw usageError(
      error.message.replace(/^[a-z]\w*(?=:| must| needs)|(?<=^Port \d+ \()[a-z]\w*(?=\))/, (name) => toFlag(name)),
    );
  }
}

const MIB = 1024 * 1024;

/** Most bytes that are read from a file or standard input. The content is copied in memory several times. */
const MAX_INPUT_BYTES = 100 * MIB;

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
