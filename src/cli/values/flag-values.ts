import { isPigeonholeError } from "../../base/error.js";
import { parseTarget, targetUrl } from "../../capture/send/target.js";
import { refusedAs, usageError } from "../frame/command-error.js";
import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { flagName } from "../frame/spec.js";

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
