import { type Socket, connect, createServer } from "node:net";
import { listen } from "../support/listen.js";

/** A way to a server that can be cut without either end being told. */
export interface TcpRelay {
  readonly port: number;
  /** What is sent from now on arrives nowhere, also on connections that are made meanwhile. */
  cut(): void;
  /** Ends what was cut; new connections work. */
  join(): void;
  /** Leads to another server from now on; what led to the one before is ended. */
  aim(toPort: number): void;
  close(): void;
}

export async function startRelay(port: number): Promise<TcpRelay> {
  const pairs = new Set<Pair>();
  let toPort = port;
  let isCut = false;
  const server = createServer((near) => {
    const pair = new Pair(near, connect({ host: "127.0.0.1", port: toPort }), () => pairs.delete(pair));
    pairs.add(pair);
    if (isCut) pair.cut();
  });
  const ownPort = await listen(server);
  const endAll = (): void => {
    for (const pair of pairs) pair.end();
  };
  return {
    port: ownPort,
    cut() {
      isCut = true;
      for (const pair of pairs) pair.cut();
    },
    join() {
      isCut = false;
      endAll();
    },
    aim(port) {
      toPort = port;
      endAll();
    },
    close() {
      server.close();
      endAll();
    },
  };
}

/** One connection through the relay. */
class Pair {
  readonly #near: Socket;
  readonly #far: Socket;

  constructor(near: Socket, far: Socket, onEnd: () => void) {
    this.#near = near;
    this.#far = far;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("error", () => undefined);
      from.on("data", (data) => to.write(data));
      from.on("close", () => {
        this.end();
        onEnd();
      });
    }
  }

  cut(): void {
    for (const socket of [this.#near, this.#far]) socket.removeAllListeners("data").resume();
    for (const socket of [this.#near, this.#far]) socket.removeAllListeners("close");
  }

  end(): void {
    this.#near.destroy();
    this.#far.destroy();
  }
}
