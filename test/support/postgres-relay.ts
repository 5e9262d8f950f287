import { type Socket, connect, createServer } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "./listen.js";
import { messageReader } from "./postgres-messages.js";

/** What goes wrong between a store and its server. */
export type RelayFault =
  /** The server answers a connection with an error of this SQLSTATE; with `of` one whose beginning matches. */
  | { at: "connection"; state: string; of?: RegExp }
  /** The server greets a new connection, and in the same breath ends it. */
  | { at: "greeting" }
  /** The server answers a statement that matches, or any, with an error of this SQLSTATE. */
  | { at: "statement"; state: string; to?: RegExp }
  /** Statements are passed on, and their connection is closed in place of the answer to one that matches, or to any. */
  | { at: "answer"; to?: RegExp }
  /** Connections are closed at once. */
  | { at: "socket" }
  /**
   * Nothing is passed on any more, in either direction, once a statement matches, or any comes. A connection that meets
   * this stays silent.
   */
  | { at: "silence"; to?: RegExp };

export interface PostgresRelay {
  url: string;
  /** Undefined passes everything on. */
  fault: RelayFault | undefined;
  /** Counts down the statements that are passed on; at 0 the connection is cut instead. */
  statementsLeft: number;
  /** Closes all connections. */
  cut(): void;
}

/** Stands between a store and a server. Its errors quote `quoted` wherever PostgreSQL quotes data. */
export async function startPostgresRelay(url: string, quoted = ""): Promise<PostgresRelay> {
  const { hostname, port: serverPort } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(serverPort), host: hostname, allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    let hasFallenSilent = false;
    let statement = "";
    const isSilent = (): boolean =>
      (hasFallenSilent ||= relay.fault?.at === "silence" && (relay.fault.to?.test(statement) ?? true));
    const cut = (): void => void [client, upstream].map((socket) => socket.destroy());
    for (const socket of [client, upstream]) {
      socket.on("end", () => isSilent() || cut());
      socket.on("close", cut);
    }
    const isAnswerLost = (): boolean => relay.fault?.at === "answer" && (relay.fault.to?.test(statement) ?? true);
    upstream.on("data", (data) => {
      if (isAnswerLost()) cut();
      else if (relay.fault?.at === "greeting" && statement === "" && data.subarray(-READY.length).equals(READY))
        client.write(Buffer.concat([data, errorOf("57P01", quoted)]));
      else if (!isSilent()) client.write(data);
    });
    const pass = messageReader((message) => {
      const type = String.fromCharCode(message[0] ?? 0);
      if ("PQ".includes(type)) statement = message.toString("latin1");
      if (isSilent()) return;
      if (relay.fault?.at === "statement" && (relay.fault.to?.test(statement) ?? true)) {
        if ("SQ".includes(type)) client.write(Buffer.concat([errorOf(relay.fault.state, quoted), READY]));
        return;
      }
      if ("PQ".includes(type) && relay.statementsLeft-- <= 0) return cut();
      upstream.write(message);
    });
    client.once("data", (startup) => {
      const { fault } = relay;
      if (fault?.at === "socket") return cut();
      if (fault?.at === "connection" && (fault.of?.test(startup.toString("latin1")) ?? true))
        return void client.end(errorOf(fault.state, quoted));
      if (!isSilent()) upstream.write(startup);
      client.on("data", pass);
    });
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const relayed = new URL(url);
  relayed.port = String(port);
  const relay: PostgresRelay = {
    url: relayed.href,
    fault: undefined,
    statementsLeft: Infinity,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
  };
  return relay;
}

const READY = Buffer.from("5a0000000549", "hex");

function errorOf(state: string, quoted: string): Buffer {
  const fields = { S: "ERROR", V: "ERROR", C: state, M: `refused ${quoted}`, D: quoted, W: quoted, H: quoted };
  const text = Object.entries(fields)
    .map(([name, value]) => `${name}${value}\0`)
    .join("");
  const head = Buffer.from("E\0\0\0\0", "latin1");
  head.writeInt32BE(4 + text.length + 1, 1);
  return Buffer.concat([head, Buffer.from(`${text}\0`, "latin1")]);
}
