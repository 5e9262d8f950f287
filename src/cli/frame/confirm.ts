import { usageError } from "./command-error.js";
import type { CommandContext } from "./context.js";

/** Asks before something that cannot be undone. Without a terminal `--yes` is required. "no" ends the command. */
export async function confirm(question: string, { yes, stdin, out, signal }: CommandContext): Promise<boolean> {
  if (yes) return true;
  if (!stdin.isTTY || !out.isTerminal) throw usageError(`${question} Pass --yes to confirm without a terminal.`);
  const prompts = await import("@clack/prompts");
  const answer = await prompts.confirm({ message: question, initialValue: false, signal });
  // During the question, Ctrl-C is an ordinary key.
  if (prompts.isCancel(answer) && !signal.aborted) process.emit("SIGINT");
  return answer === true;
}
