import { once } from "node:events";
import { type Server, connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** Passes each connection on to the next of the ports that takes one. */
export async function startBalancer(ports: readonly number[]): Promise<{ port: number; server: Server }> {
  let turn = 0;
  const server = createServer((client) => {
    turn += 1;
    const order = [...ports.slice(turn % ports.length), ...ports.slice(0, turn % ports.length)];
    const tryNext = (): void => {
      const port = order.shift();
      if (port === undefined) {
        client.destroy();
        return;
      }
      const target = connect(port, "127.0.0.1", () => {
        target.off("error", tryNext).on("error", () => client.destroy());
        client.pipe(target).pipe(client);
      });
      target.once("error", tryNext);
      client.once("close", () => target.destroy());
    };
    client.on("error", () => undefined);
    tryNext();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}
