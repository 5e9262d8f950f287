import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "../support/listen.js";

/** A request as it arrived. */
export interface Received {
  method: string;
  /** Path and query as sent. */
  url: string;
  headers: IncomingMessage["headers"];
  /** Text of the body. */
  body: string;
}

/** What is answered: status, body (an object is written as JSON) and headers; or a function that does it. */
export type Reply =
  | { status?: number; body?: unknown; headers?: Record<string, string> }
  | ((response: ServerResponse, request: Received) => void);

export interface ApiServer {
  baseUrl: string;
  received: Received[];
  /** Resolves with the next request that arrives. */
  next(): Promise<Received>;
}

/** A server on a free port for one test. The replies are given in order; the last one over and over. */
export async function startApi(...replies: Reply[]): Promise<ApiServer> {
  const received: Received[] = [];
  let waiting: ((request: Received) => void)[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const arrived = { method, url, headers, body: Buffer.concat(chunks).toString() };
      const reply = replies[Math.min(received.length, replies.length - 1)] ?? {};
      received.push(arrived);
      for (const wake of waiting) wake(arrived);
      waiting = [];
      answer(reply, response, arrived);
    });
  });
  const port = await listen(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    received,
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
  };
}

/**
 * A server on a free port for one test that answers every request with these bytes, HTTP or not, and closes the
 * connection.
 */
export async function startRawApi(answer: string): Promise<Pick<ApiServer, "baseUrl">> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(answer));
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return { baseUrl: `http://127.0.0.1:${port}/v1` };
}

function answer(reply: Reply, response: ServerResponse, request: Received): void {
  if (typeof reply === "function") {
    reply(response, request);
    return;
  }
  const { status = 200, body = {}, headers = {} } = reply;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Replies that go wrong below HTTP. */
export const FAULTS = {
  /** Reads the request, then closes the connection. */
  hangUp: (response: ServerResponse): void => void response.destroy(),
  /** Sends half an answer, then closes the connection. */
  breakOff: (response: ServerResponse): void => {
    response.writeHead(201, { "content-length": "1000" });
    response.write('{"id":', () => response.destroy());
  },
  /** Sends the beginning of an answer, and nothing after it. */
  stall: (response: ServerResponse): void => void response.writeHead(200).write("{"),
  /** Never answers. */
  hang: (): void => {},
} as const;
