import { isPigeonholeError } from "../../base/error.js";
import { usageError } from "../frame/command-error.js";
import { flagName } from "../frame/spec.js";

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
