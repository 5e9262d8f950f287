import { isPigeonholeError } from "../../base/error.js";
import { parseTarget } from "../../capture/target.js";
import { usageError } from "../frame/command-error.js";

/** Reads a target like {@link parseTarget}; the error names the flag. */
export function readTarget(flag: string, text: string): URL {
  try {
    return parseTarget(text);
  } catch (error) {
    throw isPigeonholeError(error) ? usageError(`${flag}: ${error.message}`) : error;
  }
}
