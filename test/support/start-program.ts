import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { endWithTest } from "./end-with-test.js";

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Everything it has printed so far. */
  readonly output: () => string;
  /** Lines of standard output so far; filled as they come. */
  readonly lines: readonly string[];
  /** Resolves with the first such line, also when it came already; rejects when the program ends without one. */
  readonly line: (pattern: RegExp) => Promise<string>;
  readonly signal: (signal: NodeJS.Signals) => void;
}

export interface RunInput {
  command: string;
  args: readonly string[];
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  /** What `env` is added to. @default the environment of the tests */
  base?: NodeJS.ProcessEnv;
  /** Standard input; null keeps it open. @default empty */
  input?: string | null;
}

/** Node with the text of a module as its program. */
export const asProgram = (text: string) => ({
  command: process.execPath,
  args: ["--input-type=module", "--eval", text],
});

/** Of the environment, what would change what programs print: colours, and the package manager that runs the tests. */
const PLAIN = { NO_COLOR: "1", FORCE_COLOR: undefined, npm_config_user_agent: undefined };

/** Starts a program without a terminal. It ends with the test, and on Linux all that it has started. */
export function startProgram({ command, args, cwd, env, base, input = "" }: RunInput): Running {
  const all = { ...(base ?? { ...process.env, ...PLAIN }), ...env };
  const child = endWithTest((mark) => spawn(command, args, { cwd, env: { ...all, ...mark }, stdio: "pipe" }));
  const said = { stdout: "", stderr: "" };
  const lines: string[] = [];
  const lookers = new Set<() => void>();
  const look = (): void => lookers.forEach((looker) => looker());
  let hasEnded = false;
  child.stdin.on("error", () => undefined);
  if (input !== null) child.stdin.end(input);
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
  createInterface({ input: child.stdout }).on("line", (text) => {
    lines.push(text);
    look();
  });
  const ended = new Promise<Ended>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => {
      hasEnded = true;
      look();
      done({ code, signal, ...said });
    });
  });
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const looker = (): void => {
        const found = lines.find((text) => pattern.test(text));
        if (found === undefined && !hasEnded) return;
        lookers.delete(looker);
        if (found !== undefined) resolve(found);
        else reject(new Error(`No line ${String(pattern)} in:\n${said.stdout}\n${said.stderr}`));
      };
      lookers.add(looker);
      looker();
    });
  const output = (): string => said.stdout + said.stderr;
  return { child, ended, output, lines, line, signal: (signal) => void child.kill(signal) };
}

/** Runs a program to its end, which must be a good one. */
export async function runToEnd(input: RunInput): Promise<Ended> {
  const ended = await startProgram(input).ended;
  const { code, stdout, stderr } = ended;
  if (code !== 0) throw new Error(`${input.command} ${input.args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return ended;
}
