import { escapeControls } from "../../base/text.js";
import { EXIT, type ExitCode } from "../frame/exit-code.js";
import type { Output } from "../frame/output.js";

/** Does the work for each name and prints what came of it. A failure does not stop the others. */
export async function forEach(
  { names, field, out }: { names: readonly string[]; field: "id" | "key"; out: Output },
  work: (name: string) => Promise<{ fields: Record<string, unknown>; text: string }>,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  for (const name of names) {
    try {
      const { fields, text } = await work(name);
      out.result({ [field]: name, ...fields }, `${escapeControls(name)}  ${text}`);
    } catch (error) {
      exitCode = out.fail(error);
    }
  }
  return exitCode;
}
