import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { expect } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { startProgram } from "../support/start-program.js";

export const ENV = { WEBHOOK_SECRET: TEST_SECRET };

/** Node in the folder, ended after the test with the programs that it has started. */
export function runNode(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  const running = startProgram({
    command: process.execPath,
    args,
    cwd: folder,
    env: { ...ENV, ...env },
  });
  const { child, output, signal: send } = running;
  const ended = running.ended.then(({ code }) => code);
  const stop = (signal: NodeJS.Signals = "SIGTERM") => (send(signal), ended);
  return { child, ended, output, stop };
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
