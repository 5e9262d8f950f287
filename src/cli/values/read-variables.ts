import { errorMessage } from "../../base/error-text.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import type { CommandSpec } from "../frame/spec.js";
import { readVariable } from "./secret-option.js";

/** Values of options that are not given, from their variables. The error for one that cannot be read names it. */
export function readVariables(
  { options = {} }: CommandSpec,
  isGiven: (name: string) => boolean,
  context: CommandContext,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, { variable, parse = (text: string) => text }] of Object.entries(options)) {
    const text = variable === undefined || isGiven(name) ? undefined : readVariable(variable, context);
    if (text === undefined) continue;
    try {
      values[name] = parse(text);
    } catch (error) {
      throw usageError(`${variable}: ${errorMessage(error)}`);
    }
  }
  return values;
}
