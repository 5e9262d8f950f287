import "./check-node.js";
import { randomBytes } from "node:crypto";
import { type Server, createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import pc from "picocolors";
import { EVENT_TYPES, signDelivery } from "pigeonhole/protocol";
import { createDashboard } from "pigeonhole/dashboard";
import type { SandboxLogEntry } from "pigeonhole/sandbox";
// What `pigeonhole dev --with-sandbox` runs and the dashboard says, which is no entry of the package.
import { systemClock } from "#pigeonhole/base/clock.js";
import { describeAlarm } from "#pigeonhole/dashboard/alarm-row.js";
import { DevSandbox } from "#pigeonhole/dev/sandbox/dev-sandbox.js";
import { startDevServer } from "#pigeonhole/dev/start-dev-server.js";
import { createApp } from "./app.js";
import { tell, tellAnswer, tellService, tellStep } from "./story.js";
import { sampleEvent } from "pigeonhole/testing";

// The whole loop on one machine: an emulated service delivers over HTTP to the dev server, which forwards to the app,
// and the app's handlers send contact events back. Both pages show it. It stays up until Ctrl-C.

const PATH = "/webhooks/mail";
const FOLDER = mkdtempSync(join(tmpdir(), "pigeonhole-"));
const STORE = join(FOLDER, "inbox.db");
/** A type that the service has and this version of the package does not know. */
const NEW_TYPE = "email.teleported";

const happened: SandboxLogEntry[] = [];
const eventTypes = [...EVENT_TYPES, NEW_TYPE];
const emulated = await DevSandbox.start({
  port: 0,
  eventTypes,
  newEventTypes: [NEW_TYPE],
  onLog: record,
  clock: systemClock,
});
const sandbox = emulated.service;
const apiUrl = sandbox.baseUrl;
const secret = `whsec_${randomBytes(32).toString("base64url")}`;
const { app, receiver } = createApp({
  secret,
  api: { apiKey: sandbox.apiKey, baseUrl: apiUrl },
  store: STORE,
  // A handler may begin while the answer is on its way out; told after it, the story reads in order.
  print: (who, line) => void setImmediate(tell, who, line),
  onAlarm: (alarm) => void setImmediate(tell, "alarm", describeAlarm(alarm)),
});

const server = createServer((req, res) => {
  if (req.url === PATH) tellAnswer(res);
  app(req, res);
});
const port = await listen(server, Number(process.env["PORT"] ?? 3000));
const appUrl = `http://127.0.0.1:${port}`;
// Without a login, so for this machine alone: pages elsewhere have other hosts. All that it shows is invented.
const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
const allow = () => ({ role: "operate", name: "you" }) as const;
app.use("/ops", createDashboard(receiver, { allow, hosts, payloads: "full" }));

console.log(`
The service, emulated   ${apiUrl}
The example app         ${appUrl}${PATH}
Its inbox               ${STORE}`);

await receiver.start();
const dev = await startDevServer({
  port: 0,
  pagePort: 0,
  secrets: [{ ref: "start.ts", value: secret }],
  forwards: [{ target: String(port) }],
  cwd: FOLDER,
  inbox: STORE,
  sandbox: emulated,
});

let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void shutDown());
await tellStory().catch((error: unknown) => {
  if (!stopping) throw error;
});

async function tellStory(): Promise<void> {
  const { faults } = sandbox;
  await play("A bounce comes in, and a contact event goes back", "email.bounced");

  faults.deliveries.add({ fault: { kind: "lose_answer" }, times: 1 });
  await play("The app's answer gets lost, so the service delivers the same event again", "email.bounced");

  await play("A handler fails, and runs again", "email.opened");

  faults.api.add({ calls: "contactEvents.*", fault: { kind: "no_answer", executed: true }, times: 1 });
  await play("The service's answer to a contact event gets lost", "email.bounced");

  await play("A complaint, whose handler gives up", "email.complained");
  await play("A type newer than this package", NEW_TYPE);
  await play("Data that its schema refuses", "email.bounced", { recipient: 42 });
  await play("A mail that no handler asked for", "email.received");
  await play("A long mail", "email.received", { html: "<p>The parcel left the warehouse.</p>".repeat(1_000) });

  const body = JSON.stringify(sampleEvent("email.bounced"));
  const tampered = body.replace("bounced", "Bounced");
  await forge("A genuine signature, and one byte of the body changed", tampered, signDelivery({ body, secret }));
  const timestamp = Date.now() - 600_000;
  await forge("A genuine signature of ten minutes ago", body, signDelivery({ body, secret, timestamp }));
  await forge("No signature", body, {});

  await tellCounts();
  tellYourTurn();
  if (process.stdin.isTTY) {
    createInterface({ input: process.stdin }).on("line", () => void sandbox.emit("email.bounced"));
  }
}

function record(entry: SandboxLogEntry): void {
  happened.push(entry);
  tellService(entry);
}

/** Has the service fire an event, and waits until all that follows from it is done. */
async function play(title: string, type: string, data: object = {}): Promise<void> {
  tellStep(title);
  const { id } = sandbox.emit(type, data).event;
  const answered = sandbox.waitFor({ eventId: id, answered: "2xx" }).then(() => true);
  // The service waits a minute before its first retry, which nobody wants to watch.
  while (!(await Promise.race([answered, sleep(50, false)]))) await sandbox.advanceToNextAttempt(id);
  tell("inbox", await settledState(id));
}

/** Posts what the service never sent. */
async function forge(title: string, body: string, headers: Record<string, string>): Promise<void> {
  tellStep(title);
  tell("stranger", "posts email.bounced");
  const answer = await fetch(dev.captureUrl, {
    method: "POST",
    body,
    headers: { ...headers, "content-type": "application/json" },
  });
  await answer.arrayBuffer();
}

/** What became of an event, once its handlers and its contact events are settled. */
async function settledState(id: string): Promise<string> {
  for (let look = 0; look < 200; look += 1) {
    const event = await receiver.inbox.get(id);
    const { outbox } = await receiver.stats();
    const moves = event?.handlers.some(({ state }) => ["pending", "retrying", "running"].includes(state)) ?? false;
    if (event !== undefined && !moves && outbox.pending + outbox.retrying + outbox.running === 0) {
      const handlers = event.handlers.map(({ handler, state, reason, attempts }) => {
        const why = reason === null ? "" : ` (${reason})`;
        const runs = `after ${attempts} run${attempts === 1 ? "" : "s"}`;
        return handler === "" ? `${state}${why}` : `${handler} ${state}${why} ${runs}`;
      });
      return handlers.length === 0 ? "stored, no handler asked for it" : handlers.join(", ");
    }
    await sleep(50);
  }
  return "still at work";
}

/** Counted from what the service logged, what the app answered, and what is in the two places where effects are. */
async function tellCounts(): Promise<void> {
  const { answers } = await receiver.stats();
  const { contactEvents } = sandbox;
  const fired = happened.flatMap((entry) => (entry.kind === "event" ? [entry.eventId] : []));
  const attempts = happened.filter(({ kind }) => kind === "attempt");
  const calls = happened.filter((entry) => entry.kind === "api" && entry.call.call?.startsWith("contactEvents."));
  const distinct = new Set(contactEvents.map(({ name, properties }) => `${name} ${String(properties["eventId"])}`));
  const rows = readBounces(fired);
  const refused = answers.unsigned + answers.unreadable + answers.unverified;
  console.log(`
${pc.bold("In the end")}
   ${fired.length} events in ${attempts.length} attempts: ${answers.accepted} accepted, ${answers.parked} parked, ${answers.duplicate} duplicate
   ${refused} deliveries of strangers: none let in
   ${rows.length} rows in the table "bounces", of ${new Set(rows).size} events
   ${contactEvents.length} contact events stored by the service in ${calls.length} calls, ${contactEvents.length - distinct.size} of them twice`);
}

/** The events of these that have had their effect in the app's own table, as often as they had it. */
function readBounces(ids: readonly string[]): string[] {
  const db = new Database(STORE, { readonly: true });
  try {
    const rows = db
      .prepare<[string], { event: string }>("SELECT event FROM bounces WHERE event IN (SELECT value FROM json_each(?))")
      .all(JSON.stringify(ids));
    return rows.map(({ event }) => event);
  } finally {
    db.close();
  }
}

function tellYourTurn(): void {
  const enter = process.stdin.isTTY ? "Enter fires another bounce, " : "";
  const post = (path: string, body: object): string =>
    `curl -X POST ${apiUrl}${path} -H content-type:application/json -d '${JSON.stringify(body)}'`;
  console.log(`
${pc.bold("Your turn")}  (${enter}Ctrl-C ends)
   Have the service fire an event:
   ${post("/sandbox/emit", { type: "email.bounced" })}

   Have it deliver the next one twice:
   ${post("/sandbox/faults", { deliveries: [{ fault: { kind: "duplicate" }, times: 1 }] })}

   See what is stored there, and here:
   curl ${apiUrl}/sandbox/contact-events
   npx pigeonhole inbox list --db ${STORE}

${pc.bold("See it in a browser")}
   Deliveries, with the service beside them   ${dev.pageUrl ?? ""}
   The dashboard, with plots                  ${appUrl}/ops/
`);
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
  await dev.close();
  await receiver.stop();
  await emulated.close();
  server.closeAllConnections();
  rmSync(FOLDER, { recursive: true });
  console.log("Stopped.");
  process.exit(0);
}
