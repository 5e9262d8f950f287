import { type RequestListener, createServer } from "node:http";
import { onTestFinished } from "vitest";
import { closeServer, listen } from "./listen.js";

/** A server that listens on 127.0.0.1. */
export interface RunningServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

export async function startServer(listener: RequestListener): Promise<RunningServer> {
  const server = createServer(listener);
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, port, close: () => closeServer(server) };
}

/** A server that is closed when the test ends. */
export async function serve(listener: RequestListener): Promise<RunningServer> {
  const server = await startServer(listener);
  onTestFinished(() => server.close());
  return server;
}
