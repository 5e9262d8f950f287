import { Writable } from "node:stream";
import { COMMANDS, FAMILIES } from "#pigeonhole/cli/commands.js";
import { buildProgram, type ParsedCommand } from "#pigeonhole/cli/frame/build-program.js";
import { createOutput } from "#pigeonhole/cli/frame/output.js";

export interface ApiWords {
  env: Record<string, string>;
  cwd?: string;
  isTerminal?: boolean;
}

export interface ApiResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `pigeonhole api …` in this process, which is much faster than a new one. */
export async function runApi(
  words: readonly string[],
  { env, cwd = process.cwd(), isTerminal = false }: ApiWords,
): Promise<ApiResult> {
  const [stdout, stderr] = [collect(isTerminal), collect(false)];
  let out = createOutput({ json: false, quiet: false, color: false, stdout, stderr, env });
  let code: number | null = 0;
  async function onCommand({ command, options, args, globals }: ParsedCommand): Promise<void> {
    out = createOutput({ json: globals.json ?? false, quiet: false, color: false, stdout, stderr, env });
    const { signal } = new AbortController();
    const { stdin } = process;
    const typed = { out, env, cwd, signal, expectInterruption: () => {}, yes: false, stdin, version: "1.2.3" };
    const context = { ...typed, commands: COMMANDS.map(({ spec }) => spec), families: FAMILIES };
    code = (await command.run({ options, args, context })) ?? 0;
  }
  try {
    const program = buildProgram({ commands: COMMANDS, families: FAMILIES, version: "1.2.3", onCommand });
    await program.parseAsync(["api", ...words], { from: "user" });
  } catch (error) {
    code = out.fail(error);
  }
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collect(isTTY: boolean): NodeJS.WriteStream & { text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return Object.assign(stream, { isTTY, text: () => Buffer.concat(chunks).toString() }) as never;
}
