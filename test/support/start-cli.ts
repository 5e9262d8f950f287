import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { endWithTest } from "./end-with-test.js";
import { makeFolder } from "./folder.js";
import type { CliOptions, CliResult } from "./run-cli.js";

/** What is run: the built program, by plain node. */
export const BIN = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

export interface ProcessOptions extends CliOptions {
  /** Arguments of node itself. */
  node?: readonly string[];
}

/** A running command. */
export interface CliProcess {
  /** Lines of standard output so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line that fits; rejects when the process ends without one. */
  line(pattern: RegExp): Promise<string>;
  signal(signal: "SIGHUP" | "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  readonly ended: Promise<CliResult>;
}

/** Starts the built program, for what only a process has: signals, pipes, a terminal, exit codes. */
export function startCli(args: readonly string[], options: ProcessOptions = {}): CliProcess {
  const { PATH = "" } = process.env;
  const [cwd, env] = [options.cwd ?? makeFolder(), { PATH, ...options.env }];
  const command = [...(options.node ?? []), BIN, ...args];
  const child = endWithTest(spawn(process.execPath, command, { cwd, env, stdio: ["pipe", "pipe", "pipe"] }));
  child.stdin.end(options.input ?? "");
  const lines: string[] = [];
  let stdout = "";
  let stderr = "";
  const lookers = new Set<() => void>();
  const look = (): void => {
    for (const looker of lookers) looker();
  };
  let hasEnded = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  createInterface({ input: child.stdout }).on("line", (text) => {
    lines.push(text);
    look();
  });
  const ended = new Promise<CliResult>((resolve) => {
    child.on("close", (code) => {
      hasEnded = true;
      look();
      resolve({ code, stdout, stderr });
    });
  });
  return {
    lines,
    ended,
    signal: (signal) => void child.kill(signal),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const looker = (): void => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined && !hasEnded) return;
          lookers.delete(looker);
          if (found !== undefined) resolve(found);
          else reject(new Error(`No line ${String(pattern)} in:\n${stdout}\n${stderr}`));
        };
        lookers.add(looker);
        looker();
      }),
  };
}
