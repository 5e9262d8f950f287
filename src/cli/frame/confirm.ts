import { usageError } from "./command-error.js";
import type { CommandContext } from "./context.js";

/** Asks before something that cannot be undone. Without a terminal `--yes` must have been given; "no" ends the command. */
export async function confirm(question: string, { yes, stdin, out, signal }: CommandContext): Promise<boolean> {
  if (yes) return true;
  if (!stdin.isTTY || !out.isTerminal) throw usageError(`${question} Give --yes to say so without a terminal.`);
  const prompts = await import("@clack/prompts");
  const answer = await prompts.confirm({ message: question, initialValue: false, signal });
  // While the question stood, Ctrl-C was a key like others.
  if (prompts.isCancel(answer) && !signal.aborted) process.emit("SIGINT");
  return answer === true;
}
