import { type RequestListener, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";

/** Headers of one request, all together, in bytes. */
const MAX_HEADER_BYTES = 32 * 1024;

export interface ListenOptions {
  port: number;
  host: string;
  /** Option that the error names if the port is taken. */
  option: string;
  /** Longest wait for the headers of a request, in milliseconds. @default 10,000 */
  headersTimeoutMs?: number;
}

/** A server that listens. */
export interface Listening {
  port: number;
  /** Accepts no new connections. Open requests have `graceMs` to end. */
  close: (graceMs: number) => Promise<void>;
}

/**
 * Listens with limits on time and headers. Rejects with `port_in_use`, or `invalid_option` for an address that is not
 * on this machine.
 */
export async function listen(listener: RequestListener, options: ListenOptions): Promise<Listening> {
  const { headersTimeoutMs: headersTimeout = 10 * SECOND } = options;
  // By default Node checks every 30 s, which would make the limit four times as long.
  const connectionsCheckingInterval = Math.min(headersTimeout, SECOND);
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout, connectionsCheckingInterval };
  const server = createServer(limits, listener);
  // By default Node silently drops headers after about the 1,000th. Their bytes are limited above.
  server.maxHeadersCount = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, options)));
    server.listen({ port: options.port, host: options.host }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { port, close: (graceMs) => closeServer(server, graceMs) };
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

function explain(error: NodeJS.ErrnoException, { port, host, option }: ListenOptions): Error {
  switch (error.code ?? "") {
    case "EADDRINUSE":
      return new PigeonholeError(
        "port_in_use",
        `Port ${port} (${option}) is in use by another program. End it, or choose another port; 0 takes any free one.`,
      );
    case "EACCES":
      return new PigeonholeError("invalid_option", `${option}: port ${port} may not be used by this user.`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new PigeonholeError("invalid_option", `${host} is not an address of this machine.`);
    default:
      return error;
  }
}

/**
 * Listens at 127.0.0.1 and, if the machine has it, at ::1: a browser may use either for `localhost`. Rejects if the
 * port is taken at either address, since another program would receive our requests.
 */
export async function listenOnLoopback(listener: RequestListener, port: number, option: string): Promise<Listening> {
  const first = await listen(listener, { port, host: "127.0.0.1", option });
  let second: Listening | undefined;
  try {
    second = await listen(listener, { port: first.port, host: "::1", option });
  } catch (error) {
    const hasNoIpv6 = error instanceof PigeonholeError ? error.code === "invalid_option" : isUnsupported(error);
    if (!hasNoIpv6) {
      await first.close(0);
      throw error;
    }
  }
  return {
    port: first.port,
    async close(graceMs) {
      await Promise.all([first.close(graceMs), second?.close(graceMs)]);
    },
  };
}

function isUnsupported(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAFNOSUPPORT";
}
