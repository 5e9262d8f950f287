import { spawn } from "node:child_process";
import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { expect, onTestFinished } from "vitest";
import { findFreePort } from "../support/free-port.js";

export const ENV = { ...process.env, WEBHOOK_SECRET: TEST_SECRET, NO_COLOR: "1" };

/** Node in the folder, ended after the test. */
export function runNode(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...ENV, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  // With the programs that it has started.
  onTestFinished(() => {
    const isOver = child.exitCode !== null || child.signalCode !== null;
    if (!isOver && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text.toString()));
  const ended = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
  const stop = (signal: NodeJS.Signals = "SIGTERM") => (child.kill(signal), ended);
  return { child, ended, output: () => output, stop };
}

/** A program of the folder, such as `examples/story`, as a reader runs it. */
export const runProgram = (folder: string, name: string, env?: Record<string, string>) =>
  runNode(folder, ["--import", "tsx", `${name}.ts`], env);

/** {@link runProgram}, of one that listens; `readyAt`: a path that is answered with less than 500 once it is ready. */
export async function startListening(
  folder: string,
  name: string,
  { readyAt = "/", ...env }: { readyAt?: string; [name: string]: string | undefined } = {},
) {
  const port = await findFreePort();
  const { output, stop } = runProgram(folder, name, { ...(env as Record<string, string>), PORT: String(port) });
  const url = `http://127.0.0.1:${port}`;
  const status = () =>
    fetch(url + readyAt).then(
      ({ status: of }) => of,
      () => 599,
    );
  await expect.poll(status, { timeout: 60_000, message: `${name} listens` }).toBeLessThan(500);
  return { url, port, output, stop };
}

/** Delivers an event, or a text; status and outcome of the answer. */
export async function postSigned(url: string, event: unknown, secret = TEST_SECRET) {
  const body = typeof event === "string" ? event : JSON.stringify(event);
  const headers = { ...signDelivery({ body, secret }), "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", body, headers });
  return [response.status, response.headers.get("x-pigeonhole-outcome")];
}
