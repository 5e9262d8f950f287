import { escapeControls } from "../../base/text.js";
import { type Filters, pickFilters } from "../../operator/filter-reader.js";
import { EXIT, type ExitCode, usageError } from "../frame/command-error.js";
import type { Output } from "../frame/output.js";
import { flagName } from "../frame/spec.js";

type Choice<Known extends Filters> = ReturnType<typeof pickFilters<Known>>;

/** What the options choose; undefined where rows are named. `what` is both, such as "ids of events, or choose work". */
export function readChosen<const Known extends Filters>(
  filters: Known,
  { names, what, options }: { names: readonly string[]; what: string; options: Choice<Known> & { state?: unknown } },
): Choice<Known> | undefined {
  const choice = pickFilters(filters, options);
  const isChosen = [options.state, ...Object.values(choice)].some((value) => value !== undefined);
  if (isChosen !== names.length > 0) return isChosen ? choice : undefined;
  const [last = "", ...flags] = ["state", ...Object.keys(filters).filter((name) => name in options)]
    .map((name) => flagName(name))
    .toReversed();
  throw usageError(`Give either ${what} with ${flags.toReversed().join(", ")} or ${last}.`);
}

interface NamedRows {
  names: readonly string[];
  field: "id" | "key";
  out: Output;
}

/** Changes each of the named rows and prints what came of it. A failure does not stop the others. */
export async function changeNamed(
  { names, field, out }: NamedRows,
  change: (name: string) => Promise<{ fields: Record<string, unknown>; text: string }>,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  for (const name of names) {
    try {
      const { fields, text } = await change(name);
      out.result({ [field]: name, ...fields }, `${escapeControls(name)}  ${text}`);
    } catch (error) {
      exitCode = out.fail(error);
    }
  }
  return exitCode;
}
