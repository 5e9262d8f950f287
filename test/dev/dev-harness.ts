import { type IncomingMessage, type RequestListener, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { TEST_SECRET, sampleEvent, signDelivery } from "pigeonhole/testing";
import { onTestFinished } from "vitest";
import type { DevEvent } from "#pigeonhole/dev/lines/dev-event.js";
import type { DevServerOptions } from "#pigeonhole/dev/options.js";
import { type DevServer, startDevServer } from "#pigeonhole/dev/start-dev-server.js";
import { makeFolder } from "../support/folder.js";
import { readBytes } from "../support/read-body.js";

export interface Started {
  dev: DevServer;
  events: DevEvent[];
  kinds: () => string[];
  folder: string;
}

/** A dev server on free ports with a folder of its own. */
export async function startDev(options: DevServerOptions = {}): Promise<Started> {
  const folder = options.cwd ?? makeFolder();
  const events: DevEvent[] = [];
  const dev = await startDevServer({
    port: 0,
    pagePort: 0,
    secrets: [{ ref: "env:WEBHOOK_SECRET", value: TEST_SECRET }],
    ...options,
    cwd: folder,
    report: (event) => events.push(event),
  });
  onTestFinished(() => dev.close());
  return { dev, events, folder, kinds: () => events.map(({ kind }) => kind) };
}

export interface SeenRequest {
  method: string;
  url: string;
  rawHeaders: string[];
  body: Buffer;
}

/** An app that keeps what it gets. */
export interface App {
  port: number;
  url: string;
  seen: SeenRequest[];
  close(): Promise<void>;
}

export async function startApp(answer: RequestListener = (_, res) => void res.end("ok")): Promise<App> {
  const seen: SeenRequest[] = [];
  const server = createServer((req, res) => {
    void readBytes(req).then((body) => {
      seen.push({ method: req.method ?? "", url: req.url ?? "", rawHeaders: req.rawHeaders, body });
      answer(req, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, seen, close };
}

export interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  rawHeaders: string[];
  text: string;
}

export interface SendInput {
  method?: string;
  /** In place of that of the URL, as it is: a URL tidies its path up. */
  path?: string;
  /** Sent as they are, in this order. */
  headers?: [string, string][] | Record<string, string>;
  body?: Uint8Array | string;
}

/** One request with node:http, whose headers are sent as given. */
export function send(url: string, input: SendInput = {}): Promise<Answer> {
  const { method = "GET", path, headers: given = [], body = "" } = input;
  const target = new URL(url);
  const bytes = Buffer.from(body);
  const headers = Array.isArray(given) ? given : Object.entries(given);
  const names = headers.map(([name]) => name.toLowerCase());
  const all: [string, string][] = [
    ...(names.includes("host") ? [] : ([["Host", target.host]] as [string, string][])),
    ...headers,
    ...(bytes.length === 0 || names.includes("content-length")
      ? []
      : ([["Content-Length", String(bytes.length)]] as [string, string][])),
  ];
  return new Promise((resolve, reject) => {
    const sent = request(target, { method, ...(path && { path }), headers: all.flat(), agent: false }, (res) => {
      readBytes(res).then(
        (read) =>
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers,
            rawHeaders: res.rawHeaders,
            text: read.toString(),
          }),
        reject,
      );
    });
    sent.on("error", reject);
    sent.end(bytes);
  });
}

/** A delivery as the service sends it: body and headers. */
export function makeDelivery(
  options: { type?: Parameters<typeof sampleEvent>[0]; at?: number; secret?: string; body?: Uint8Array | string } = {},
): { id: string; body: Buffer; headers: [string, string][] } {
  const event = sampleEvent(options.type ?? "email.received");
  const body = Buffer.from(options.body ?? JSON.stringify(event));
  const signed = signDelivery({
    body,
    secret: options.secret ?? TEST_SECRET,
    ...(options.at === undefined ? {} : { timestamp: options.at }),
  });
  return { id: event.id, body, headers: [["Content-Type", "application/json"], ...Object.entries(signed)] };
}

/** Posts a delivery to the capture port. */
export function deliver(dev: DevServer, delivery = makeDelivery()): Promise<Answer> {
  return send(dev.captureUrl, { method: "POST", headers: delivery.headers, body: delivery.body });
}

/** The ids of the captures, newest first. */
export const idsOf = ({ captures }: DevServer): string[] => captures.list().map(({ id }) => id);

/** Calls the page's API as a script does, with the token of the printed URL. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- names what a route answers
export async function callApi<Json = unknown>(
  dev: DevServer,
  path: string,
  body?: object,
): Promise<{ status: number; json: Json }> {
  const page = new URL(dev.pageUrl ?? "");
  const headers = { Authorization: `Bearer ${page.searchParams.get("t")}` };
  const change = { "Content-Type": "application/json", "X-Pigeonhole": "1" };
  const answer = await send(
    `${page.origin}${path}`,
    body === undefined
      ? { headers }
      : { method: "POST", headers: { ...headers, ...change }, body: JSON.stringify(body) },
  );
  return { status: answer.status, json: JSON.parse(answer.text) as Json };
}
