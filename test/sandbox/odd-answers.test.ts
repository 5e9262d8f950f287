import { type Socket, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSandbox } from "./support.js";
import { listen } from "../support/listen.js";

/** A receiver that writes bytes of its own and may break the connection off. */
async function openRaw(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${port}/hook`;
}

const head = (line: string, ...headers: string[]): string => [`HTTP/1.1 ${line}`, ...headers, "", ""].join("\r\n");

describe("answers that break off", () => {
  const long = head("200 OK", "content-length: 100");
  const garbage = `${head("200 OK", "transfer-encoding: chunked")}no chunk at all\r\n`;
  const reset = (socket: Socket) => void setTimeout(() => socket.resetAndDestroy(), 20);
  test.each<[what: string, answer: (socket: Socket) => void]>([
    ["whose connection is reset in the body", (socket) => socket.write(long, () => reset(socket))],
    ["whose body is garbage", (socket) => socket.write(garbage)],
    ["whose body ends early", (socket) => socket.end(`${long}a part`)],
  ])("an answer counts from its status line on, even one %s", async (_, answer) => {
    const sandbox = openSandbox({ clock: "real" });
    sandbox.endpoints.create({ url: await openRaw(answer) });
    sandbox.emit("email.sent");
    expect(await sandbox.waitFor()).toMatchObject({ status: "delivered", responseCode: 200, error: null });
  });

  test("an answer whose body never ends counts with its status after 5 s", async () => {
    const sandbox = openSandbox({ limits: { patienceMs: 50 } });
    const url = await openRaw((socket) => void socket.write(long));
    sandbox.endpoints.create({ url });
    sandbox.emit("email.sent");
    expect(await sandbox.waitFor()).toMatchObject({ status: "delivered", responseCode: 200, durationMs: 5_000 });
  });

  test("an answer in process counts even if its body was already read", async () => {
    const receive = async (): Promise<Response> => {
      const response = new Response("taken");
      await response.text();
      return response;
    };
    const sandbox = openSandbox({ receive });
    sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
    sandbox.emit("email.sent");
    expect(await sandbox.waitFor()).toMatchObject({ status: "delivered", error: null });
  });
});

test("an answer of 101 Switching Protocols is a final failure", async () => {
  const sandbox = openSandbox({ clock: "real" });
  const switching = head("101 Switching Protocols", "upgrade: websocket", "connection: upgrade");
  sandbox.endpoints.create({ url: await openRaw((socket) => void socket.write(switching)) });
  sandbox.emit("email.sent");
  const failed = { status: "failed", responseCode: 101, nextAttemptAt: null };
  expect(await sandbox.waitFor({ timeoutMs: 3_000 })).toMatchObject(failed);
});
