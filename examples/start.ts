import { randomBytes } from "node:crypto";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { signDelivery } from "pigeonhole/protocol";
import { sampleEvent } from "pigeonhole/testing";
import { createApp } from "./app.js";

// The example app with real deliveries posted to it over HTTP. It stays up for your own until Ctrl-C.

const PATH = "/webhooks/mail";
const STORE = new URL("inbox.db", import.meta.url).pathname;
const secret = `whsec_${randomBytes(32).toString("base64url")}`;

const { app, receiver } = createApp({ secret, store: STORE, print: (line) => console.log(`      ${line}`) });
await receiver.start();
const server = createServer(app);
const url = `http://127.0.0.1:${await listen(server, Number(process.env["PORT"] ?? 3000))}${PATH}`;

console.log(`The example app listens on ${url}`);
console.log(`Its inbox is ${STORE}\n`);

const bounced = sign(newEvent("email.bounced"));
const large = newEvent("email.received", { html: "x".repeat(2 * 1024 * 1024) });
await show("a bounce", bounced);
await show("the same delivery again", bounced);
await show("one byte of it changed", { ...bounced, body: bounced.body.replace("bounced", "Bounced") });
await show("signed ten minutes ago", sign(newEvent("email.sent"), Date.now() - 600_000));
await show("no signature", { ...bounced, headers: {} });
await show("a type newer than this package", sign({ ...newEvent("email.sent"), type: "email.teleported" }));
await show("data that its schema refuses", sign(newEvent("email.bounced", { recipient: 42 })));
await show("a body of 2 MB", sign(large));
await show("an open whose handler fails once", sign(newEvent("email.opened")));
await show("a complaint whose handler gives up", sign(newEvent("email.complained")));

printCurl();
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void shutDown());
if (process.stdin.isTTY)
  createInterface({ input: process.stdin })
    .on("line", printCurl)
    .on("SIGINT", () => void shutDown());

interface SignedDelivery {
  id: string;
  body: string;
  headers: Record<string, string>;
}

type Sample = ReturnType<typeof sampleEvent>;

/** A sample event under an id of its own, since the inbox remembers those of earlier runs. */
function newEvent(type: Sample["type"], data?: Record<string, unknown>) {
  return {
    ...sampleEvent(type, data),
    id: `evt_${randomBytes(12).toString("hex")}`,
    createdAt: new Date().toISOString(),
  };
}

function sign(event: { id: string; type: string }, timestamp = Date.now()): SignedDelivery {
  const body = JSON.stringify(event);
  return { id: event.id, body, headers: signDelivery({ body, secret, timestamp }) };
}

/** Posts a delivery and prints what the service would hear and what the handlers did. */
async function show(what: string, { id, body, headers }: SignedDelivery): Promise<void> {
  console.log(what);
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { ...headers, "content-type": "application/json" },
  });
  const retryAfter = response.headers.get("retry-after");
  const outcome = response.headers.get("x-pigeonhole-outcome") ?? "";
  const answer = [`${response.status}`, outcome, retryAfter === null ? "" : `sent again after ${retryAfter} s`];
  console.log(`   →  ${answer.filter((part) => part !== "").join(", ")}`);
  if (response.ok) await showInbox(id);
  console.log();
}

async function showInbox(id: string): Promise<void> {
  for (let look = 0; look < 50; look += 1) {
    const event = await receiver.inbox.get(id);
    const moves = event?.handlers.some(({ state }) => state === "pending" || state === "leased") ?? false;
    if (event !== undefined && !moves) {
      const handlers = event.handlers.map(({ handler, state, reason, attempts }) => {
        const why = reason === undefined ? "" : ` (${reason})`;
        return handler === ""
          ? `${state}${why}`
          : `${handler} ${state}${why} after ${attempts} run${attempts === 1 ? "" : "s"}`;
      });
      console.log(`      inbox: ${handlers.length === 0 ? "stored, no handler asked for it" : handlers.join(", ")}`);
      return;
    }
    await sleep(50);
  }
}

function printCurl(): void {
  const { body, headers } = sign(newEvent("email.bounced", { recipient: "you@example.com" }));
  const flags = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`);
  console.log("Your turn, signed for the next five minutes (Enter prints a new one, Ctrl-C ends):\n");
  console.log(
    `curl -i ${url} ${flags.join(" ")} -H 'content-type: application/json' -d '${body.replaceAll("'", String.raw`'\''`)}'\n`,
  );
}

async function listen(target: Server, port: number): Promise<number> {
  const ready = await new Promise<boolean>((resolve) => {
    target.once("error", () => resolve(false));
    target.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!ready) return listen(target, 0);
  return (target.address() as AddressInfo).port;
}

async function shutDown(): Promise<void> {
  if (stopping) return;
  stopping = true;
  console.log("\nDraining …");
  server.close();
  await receiver.stop();
  server.closeAllConnections();
  console.log("Stopped. What was not done runs at the next start.");
  process.exit(0);
}
