import { Readable, Writable } from "node:stream";
import type { HostProcess } from "#pigeonhole/cli/frame/context.js";
import { main } from "#pigeonhole/cli/main.js";
import { markOfTest } from "./end-with-test.js";
import { makeFolder } from "./folder.js";

export const SECRET = `whsec_${"commandline".repeat(3)}0123456789`;

export interface CliOptions {
  /** @default a new folder */
  cwd?: string;
  /** Added to a nearly empty environment. */
  env?: Record<string, string>;
  /** Standard input. @default closed */
  input?: string;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command to its end, in this process; `isTerminal` is what standard output is. An app that it starts ends with
 * the test.
 */
export async function runCli(
  args: readonly string[],
  { cwd = makeFolder(), env, input, isTerminal = false }: CliOptions & { isTerminal?: boolean } = {},
): Promise<CliResult> {
  const { PATH = "" } = process.env;
  const [stdout, stderr] = [collect(isTerminal), collect(false)];
  let folder = cwd;
  const host = {
    argv: ["node", "pigeonhole", ...args],
    env: { PATH, ...env, ...(args.includes("--start") ? markOfTest() : {}) },
    stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]),
    stdout,
    stderr,
    cwd: () => folder,
    chdir: (path: string) => (folder = path),
    on: () => undefined,
    exit: () => undefined,
  };
  const code = await main(host as unknown as HostProcess);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collect(isTTY: boolean): Writable & { text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return Object.assign(stream, { isTTY, text: () => Buffer.concat(chunks).toString() });
}

/** The lines of `--json` output. */
export function jsonLines({ stdout }: Pick<CliResult, "stdout">): Record<string, unknown>[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
