import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import tls from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { createMiddleware } from "#pigeonhole/http/node-mount.js";
import { countUnread, watchConnections } from "#pigeonhole/http/watch-connections.js";
import { createProbe } from "../support/probe.js";
import { listen } from "../support/listen.js";
import { readBytes } from "../support/read-body.js";

watchConnections();

const UPLOAD = Buffer.alloc(5_000_000, 7);

/** The server's port; it is closed after the test. */
async function serve(server: net.Server): Promise<number> {
  onTestFinished(() => void server.close());
  return listen(server);
}

async function overHttp(): Promise<Buffer> {
  const port = await serve(http.createServer((req, res) => void req.pipe(res)));
  const request = http.request({ port, host: "127.0.0.1", method: "POST" });
  const response = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on("response", resolve).on("error", reject);
  });
  request.end(UPLOAD);
  return readBytes(await response);
}

async function overHttp2(): Promise<Buffer> {
  const server = http2.createServer();
  server.on("stream", (stream) => {
    stream.respond();
    stream.pipe(stream);
  });
  const session = http2.connect(`http://127.0.0.1:${await serve(server)}`);
  const stream = session.request({ ":method": "POST" });
  stream.end(UPLOAD);
  const received = await readBytes(stream);
  session.close();
  return received;
}

async function overTcp(): Promise<Buffer> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("data", (chunk) => {
      socket.pause();
      socket.write(chunk);
      setImmediate(() => socket.resume());
    });
    socket.on("end", () => socket.end());
  });
  const socket = net.connect({ port: await serve(server), host: "127.0.0.1" });
  socket.end(UPLOAD);
  return readBytes(socket);
}

test.each([
  ["HTTP/1", overHttp],
  ["HTTP/2", overHttp2],
  ["TCP", overTcp],
])("too much work over %s only delays other servers of the process, and breaks nothing", async (_, upload) => {
  const storm = setInterval(countUnread, 1);
  onTestFinished(() => clearInterval(storm));
  expect((await upload()).equals(UPLOAD)).toBe(true);
});

/** A key and its certificate, made by openssl; undefined where there is none. */
function makeCertificate(): { key: Buffer; cert: Buffer } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const ask = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -keyout";
  try {
    execFileSync("openssl", [...ask.split(" "), key, "-out", cert], { stdio: "ignore" });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const certificate = makeCertificate();
const CONNECTIONS = 20;
const HEAD = "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
const CHUNKS = "1\r\nx\r\n".repeat(2_000);

/** Has all connections send at once; resolves with how many were read in each turn. */
async function connectionsReadByTurn(
  server: http.Server,
  open: (port: number) => Promise<net.Socket>,
  firstMs: number,
) {
  const byTurn: number[] = [];
  const inThisTurn = new Set<http.IncomingMessage>();
  const endTurn = (): void => {
    byTurn.push(inThisTurn.size);
    inThisTurn.clear();
  };
  const probe = await createProbe();
  const middleware = createMiddleware(probe.handle, probe.clock);
  server.on("request", (req: http.IncomingMessage, res: http.ServerResponse) => {
    middleware(req, res);
    req.on("data", () => {
      if (inThisTurn.size === 0) setImmediate(endTurn);
      inThisTurn.add(req);
    });
  });
  const port = await serve(server);
  onTestFinished(() => server.closeAllConnections());
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(port)));
  await wait(50);
  // Where the connection is known by its request only, that comes first.
  if (firstMs > 0) for (const client of clients) client.write(HEAD);
  await wait(firstMs);
  for (const client of clients) client.write(firstMs > 0 ? CHUNKS : HEAD + CHUNKS);
  await expect.poll(() => byTurn.length).toBeGreaterThanOrEqual(CONNECTIONS);
  return byTurn;
}

async function opened(client: net.Socket, event: string): Promise<net.Socket> {
  client.on("error", () => undefined);
  await new Promise((resolve) => client.once(event, resolve));
  return client;
}

test("each turn reads one connection after a turn with too much work", async () => {
  const byTurn = await connectionsReadByTurn(
    http.createServer(),
    (port) => opened(net.connect(port, "127.0.0.1"), "connect"),
    0,
  );
  expect(byTurn.filter((count) => count > 1)).toEqual([]);
});

// The certificate needs openssl.
test.skipIf(certificate === undefined)(
  "each turn reads one connection behind TLS too, once the headers of a request came",
  async () => {
    const byTurn = await connectionsReadByTurn(
      https.createServer({ ...certificate }),
      (port) => opened(tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false }), "secureConnect"),
      200,
    );
    expect(byTurn.filter((count) => count > 1)).toEqual([]);
  },
);

/** The server's side of a connection to a server that does not read. */
async function acceptConnection(): Promise<{ accepted: net.Socket; client: net.Socket }> {
  const server = net.createServer();
  const port = await serve(server);
  const arrived = new Promise<net.Socket>((resolve) => server.once("connection", resolve));
  const client = net.connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void client.destroy());
  return { accepted: await arrived, client };
}

test("a connection that is not read yet is left alone, and its first bytes are kept", async () => {
  const { accepted, client } = await acceptConnection();
  client.end("the first frame");
  countUnread();
  await wait(50);
  expect((await readBytes(accepted)).toString()).toBe("the first frame");
});

test("a connection that a request resumes while it waits its turn is read again afterwards", async () => {
  const first = await acceptConnection();
  const second = await acceptConnection();
  first.accepted.resume();
  let received = "";
  second.accepted.on("data", (chunk) => (received += String(chunk)));
  await wait(10);
  countUnread();
  await new Promise((resolve) => setImmediate(resolve));
  expect(second.accepted.isPaused()).toBe(true);
  // As a request does that is read ahead; the event "resume" comes later.
  second.accepted.resume();
  countUnread();
  second.client.end("all of it");
  await expect.poll(() => received).toBe("all of it");
});
