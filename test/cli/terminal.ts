import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { endWithTest } from "../support/end-with-test.js";
import { hasTerminal } from "../support/tools.js";

export const HAS_TERMINAL = hasTerminal();

/** Keys as a terminal sends them. */
export const KEY = {
  enter: "\r",
  down: "\u001b[B",
  ctrlC: "\u0003",
} as const;

export interface TerminalOptions {
  cwd: string;
  /** Added to a nearly empty environment. */
  env?: Record<string, string>;
}

/** A program in a terminal of 120 columns. */
export interface Terminal {
  /** Resolves when the text stands behind what was waited for before; rejects after 20 s or at the end. */
  shows(text: string): Promise<void>;
  press(...keys: string[]): void;
  /** All that was printed, without the terminal's control sequences. */
  readonly screen: string;
  /** All that was printed, as it was. */
  readonly output: string;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

const PATIENCE_MS = 20_000;

/** Starts a line of `sh` in a pseudo-terminal. */
export function startInTerminal(line: string, { cwd, env }: TerminalOptions): Terminal {
  const { PATH = "" } = process.env;
  const args = ["-qec", `stty cols 120 rows 50; exec ${line}`, "/dev/null"];
  const all = { PATH, TERM: "xterm", SHELL: "/bin/sh", HOME: cwd, ...env };
  const child = endWithTest(spawn("script", args, { cwd, env: all, stdio: ["pipe", "pipe", "inherit"] }));
  let output = "";
  let screen = "";
  let seen = 0;
  let hasEnded = false;
  const lookers = new Set<() => void>();
  const look = (): void => {
    for (const looker of lookers) looker();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    // A control sequence may come in two parts.
    screen = stripVTControlCharacters(output);
    look();
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      hasEnded = true;
      look();
      resolve(code);
    });
  });
  return {
    ended,
    get screen() {
      return screen;
    },
    get output() {
      return output;
    },
    press: (...keys) => void child.stdin.write(keys.join("")),
    shows: (text) =>
      new Promise((resolve, reject) => {
        const end = (problem?: string): void => {
          clearTimeout(timer);
          lookers.delete(looker);
          if (problem === undefined) resolve();
          else reject(new Error(`${problem}: "${text}" in\n${screen.slice(seen)}`));
        };
        const looker = (): void => {
          const at = screen.indexOf(text, seen);
          if (at !== -1) {
            seen = at + text.length;
            end();
          } else if (hasEnded) end("Ended without");
        };
        const timer = setTimeout(() => end("Waited in vain for"), PATIENCE_MS);
        lookers.add(looker);
        looker();
      }),
  };
}
