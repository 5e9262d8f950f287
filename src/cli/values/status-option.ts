import { checkStatusPattern } from "../../capture/check-expectation.js";
import { usageError } from "../frame/command-error.js";

/** Checks `--expect` before anything is sent; errors name the flag. */
export function checkExpect(status: string | undefined): string | undefined {
  if (status === undefined) return undefined;
  try {
    return checkStatusPattern(status);
  } catch {
    throw usageError(`--expect must be a status such as 200, or a class such as 2xx, got "${status}".`);
  }
}
