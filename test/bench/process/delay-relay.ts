import { type Socket, connect, createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface DelayRelay {
  port: number;
  end(): void;
}

/** A way to a server that adds so many milliseconds to each direction. */
export async function startDelayRelay(toPort: number, delayMs: number): Promise<DelayRelay> {
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on("error", () => undefined);
    from.on("data", (data) => setTimeout(() => to.write(data), delayMs));
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((near) => {
    const far = connect({ host: "127.0.0.1", port: toPort });
    pass(near, far);
    pass(far, near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    end() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
