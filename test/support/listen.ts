import type { AddressInfo, Server as TcpServer } from "node:net";
import type { Server } from "node:http";

/** Starts to listen on a free port of the loopback interface, and gives it. */
export async function listen(server: TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Ends every connection and the server, unless it has ended. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
