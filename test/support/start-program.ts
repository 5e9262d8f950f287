import { type ChildProcess, spawn } from "node:child_process";
import { endWithTest } from "./end-with-test.js";

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Everything it has printed so far. */
  output(): string;
}

export interface RunInput {
  command: string;
  args: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string>>;
}

/** Of the environment, what would change what programs print: colours, and the package manager that runs the tests. */
const PLAIN = { NO_COLOR: "1", FORCE_COLOR: undefined, npm_config_user_agent: undefined };

/** Starts a program without a terminal. It ends with the test. */
export function startProgram({ command, args, cwd, env = {} }: RunInput): Running {
  const all = { ...process.env, ...PLAIN, ...env };
  const child = endWithTest(spawn(command, args, { cwd, env: all, stdio: ["ignore", "pipe", "pipe"] }));
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
  const ended = new Promise<Ended>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done({ code, ...said }));
  });
  return { child, ended, output: () => said.stdout + said.stderr };
}
