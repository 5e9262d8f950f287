import { type ChildProcess, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { TEST_SECRET } from "pigeonhole/testing";
import { expect, onTestFinished } from "vitest";
import { findFreePort } from "../support/free-port.js";

export const ROOT = resolve(import.meta.dirname, "../..");
export const BIN = join(ROOT, "dist/cli/bin.js");
export const ENV = { ...process.env, WEBHOOK_SECRET: TEST_SECRET, NO_COLOR: "1" };

/** Runs a program in the folder, and ends it with the test. */
export function start(folder: string, args: readonly string[], port?: number) {
  const more = port === undefined ? {} : { PORT: String(port) };
  const child: ChildProcess = spawn(process.execPath, args, { cwd: folder, env: { ...ENV, ...more } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (output += text.toString()));
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  return {
    output: () => output,
    async stop(signal: NodeJS.Signals) {
      child.kill(signal);
      await ended;
    },
  };
}

/** The receiver of the example, which listens. */
export async function startExpressMinimal(folder: string) {
  const port = await findFreePort();
  const receiver = start(folder, ["--import", "tsx", "examples/express-minimal.ts"], port);
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      () => false,
    );
  await expect.poll(isUp, { timeout: 60_000, message: "the receiver listens" }).toBe(true);
  return { port, ...receiver };
}
