import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { closeServer, listen } from "../support/listen.js";
import { readText } from "../support/read-body.js";
import { makeEvent } from "../support/receiver.js";

const script = fileURLToPath(new URL("once-receiver.mjs", import.meta.url));

/**
 * A receiver makes a thing, and SIGKILL ends it when the thing is made and the answer has not come. Gives how many
 * things there are when the next process is done.
 */
export async function killBetweenCreateAndKeep(store: object): Promise<number> {
  const event = makeEvent();
  const things: { id: number }[] = [];
  let child: ChildProcess | undefined;
  const shop = createServer((request, response) => {
    if (request.method === "GET") return void response.end(JSON.stringify(things));
    things.push({ id: things.length + 1 });
    child?.kill("SIGKILL");
  });
  const url = `http://127.0.0.1:${await listen(shop)}/`;
  onTestFinished(() => closeServer(shop));
  onTestFinished(() => void child?.kill("SIGKILL"));
  const start = () => {
    const config = { store, shop: url, event: JSON.stringify(event) };
    child = spawn(process.execPath, [script, JSON.stringify(config)], { stdio: ["ignore", "pipe", "inherit"] });
    return child;
  };

  const [code, signal] = (await once(start(), "exit")) as unknown[];
  expect([code, signal]).toEqual([null, "SIGKILL"]);
  const { stdout } = start();
  expect(stdout === null ? "" : await readText(stdout)).toBe('{"id":1}');
  return things.length;
}
