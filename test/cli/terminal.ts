import { stripVTControlCharacters } from "node:util";
import { expect } from "vitest";
import { startProgram } from "../support/start-program.js";
import { hasTerminal } from "../support/tools.js";

export const HAS_TERMINAL = hasTerminal();

/** Keys as a terminal sends them. */
export const KEY = {
  enter: "\r",
  down: "\u001b[B",
  ctrlC: "\u0003",
} as const;

/** A program in a terminal of 120 columns. */
export interface Terminal {
  /** Resolves when the text stands behind what was waited for before. */
  shows(text: string): Promise<void>;
  press(...keys: string[]): void;
  /** All that was printed, without the terminal's control sequences. */
  readonly screen: string;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts a line of `sh` in a pseudo-terminal, with `env` added to a nearly empty environment. */
export function startInTerminal(
  line: string,
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Terminal {
  const { PATH = "" } = process.env;
  const args = ["-qec", `stty cols 120 rows 50; exec ${line}`, "/dev/null"];
  const base = { PATH, TERM: "xterm", SHELL: "/bin/sh", HOME: cwd };
  const { child, ended, output } = startProgram({ command: "script", args, cwd, env, base, input: null });
  // A control sequence may come in two parts.
  const read = (): string => stripVTControlCharacters(output());
  let seen = 0;
  return {
    ended: ended.then(({ code }) => code),
    get screen() {
      return read();
    },
    press: (...keys) => void child.stdin?.write(keys.join("")),
    async shows(text) {
      await expect.poll(() => read().slice(seen)).toContain(text);
      seen = read().indexOf(text, seen) + text.length;
    },
  };
}
