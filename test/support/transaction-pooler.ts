import { type Socket, connect, createServer } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "./listen.js";
import { messageReader } from "./postgres-messages.js";

const SSL_REQUEST = 80_877_103;
/** Authentication is done, and the number by which a statement is cancelled. */
const WELCOME = Buffer.from("5200000008000000004b0000000c00000001000000015a0000000549", "hex");

/**
 * A pooler in transaction mode, as PgBouncer is: between two transactions a client has no connection to the server, and
 * what the server says meanwhile reaches nobody. Returns the URL that leads through it.
 */
export async function startTransactionPooler(url: string): Promise<string> {
  const idle: Upstream[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    serveClient(socket, () => idle.shift() ?? new Upstream(url, idle));
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
    for (const { socket } of idle) socket.destroy();
  });
  const pooled = new URL(url);
  pooled.port = String(port);
  return pooled.href;
}

function serveClient(socket: Socket, take: () => Upstream): void {
  let linked: Upstream | undefined;
  let isWelcome = false;
  socket.on("error", () => undefined);
  socket.on("close", () => linked?.socket.destroy());
  const read = messageReader((message) => {
    const isEnd = message[0] === "X".charCodeAt(0);
    if (isEnd) return void socket.end();
    linked ??= take();
    linked.client = { socket, unlink: () => (linked = undefined) };
    linked.send(message);
  });
  const greet = (data: Buffer): void => {
    if (data.readInt32BE(4) === SSL_REQUEST) return void socket.write("N");
    isWelcome = true;
    socket.write(WELCOME);
  };
  socket.on("data", (data) => (isWelcome ? read(data) : greet(data)));
}

/** A connection to the server, which is that of one client for a transaction. */
class Upstream {
  readonly socket: Socket;
  client: { socket: Socket; unlink: () => void } | undefined;
  readonly #unsent: Buffer[] = [];
  #isReady = false;

  constructor(url: string, idle: Upstream[]) {
    const { hostname, port, username, pathname } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.on("error", () => undefined);
    this.socket.write(startup({ user: username, database: pathname.slice(1) }));
    const read = messageReader((message) => {
      const isReady = message[0] === "Z".charCodeAt(0);
      if (!this.#isReady) {
        this.#isReady = isReady;
        if (isReady) for (const unsent of this.#unsent) this.socket.write(unsent);
        return;
      }
      this.client?.socket.write(message);
      if (!isReady || message[5] !== "I".charCodeAt(0)) return;
      this.client?.unlink();
      this.client = undefined;
      idle.unshift(this);
    });
    this.socket.on("data", read);
  }

  send(message: Buffer): void {
    if (this.#isReady) this.socket.write(message);
    else this.#unsent.push(message);
  }
}

function startup(fields: Record<string, string>): Buffer {
  const text = Object.entries(fields)
    .map(([name, value]) => `${name}\0${value}\0`)
    .join("");
  const body = Buffer.from(`\0\u0003\0\0${text}\0`, "latin1");
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}
