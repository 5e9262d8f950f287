import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { DoNotRetry, createReceiver } from "pigeonhole";
import { pino } from "pino";
import * as z from "zod";
import { MEDDLERS } from "./meddle.mjs";

// A receiver in a process of its own. What its handlers do with an event stands in the event: data.tasks[handler name].
// It reports by JSON lines on standard output.

/** @type {import("./receiver-process.js").ReceiverConfig} */
const config = JSON.parse(process.argv[2] ?? "{}");
const report = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** No unique constraint: a second effect of the same event must show. */
function createEffectTable() {
  const db = new Database(config.file, { timeout: 5_000 });
  db.pragma("journal_mode = WAL");
  db.exec("CREATE TABLE IF NOT EXISTS effect (event_id TEXT, handler TEXT, attempt INTEGER, pid INTEGER)");
  db.close();
}

function die(how) {
  if (how === "exit") process.exit(1);
  process.kill(process.pid, "SIGKILL");
}

function aborted(signal) {
  // Nothing here keeps the event loop alive: the receiver itself must, until it has stopped.
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

function createHandler(name, kind) {
  return async (event, ctx) => {
    const task = event.data.tasks?.[name] ?? {};
    if (task.tellStart) report({ msg: "begun", eventId: event.id, handler: name, attempt: ctx.attempt });
    if (task.die !== undefined && task.dieAfterMs === undefined) die(task.die);
    if (task.dieAfterMs !== undefined) {
      await sleep(task.dieAfterMs);
      die(task.die);
    }
    if (config.stepMs || task.waitMs) await sleep(config.stepMs ?? task.waitMs);
    if (task.failFirst && ctx.attempt === 1) throw new Error("The first attempt fails.");
    if (task.untilAborted && ctx.attempt === 1) {
      await aborted(ctx.signal).catch((error) => {
        report({ msg: "aborted", eventId: event.id, code: error.code });
        throw error;
      });
    }
    if (kind === "append") return appendFileSync(config.sideFile, `${event.id}\n`);
    return ctx.commit((tx) => writeEffect(tx, [event.id, name, ctx.attempt]));
  };
}

function writeEffect({ db }, effect) {
  db.prepare("INSERT INTO effect (event_id, handler, attempt, pid) VALUES (?, ?, ?, ?)").run(...effect, process.pid);
}

/** Fails some events of a batch alone, and writes those that are left in one transaction. */
function createBatchHandler(name) {
  const taskOf = (event) => event.data.tasks?.[name] ?? {};
  return async (events, ctx) => {
    report({ msg: "batch", events: events.length });
    await sleep(Math.max(...events.map((event) => taskOf(event).waitMs ?? 0)));
    const left = events.filter((event) => {
      const { failFirst, failForGood } = taskOf(event);
      const error = failForGood
        ? new DoNotRetry("Each attempt fails.")
        : failFirst && ctx.of(event).attempt === 1 && new Error("The first attempt fails.");
      if (error) ctx.fail(event, error);
      return !error;
    });
    return ctx.commit((tx) => {
      for (const event of left) writeEffect(tx, [event.id, name, ctx.of(event).attempt]);
    });
  };
}

createEffectTable();
const { withSubject = [] } = config;
const receiver = createReceiver({
  schemas: Object.fromEntries(withSubject.map((type) => [type, z.object({ subject: z.string().optional() })])),
  secrets: config.secret,
  store: config.file,
  concurrency: config.concurrency ?? 8,
  retry: { initialMs: 40, ...config.retry },
  logger: pino({ level: "info" }, pino.destination({ sync: true })),
  telemetry: false,
});
for (const [name, { kind, types = "*", ...options }] of Object.entries(config.handlers)) {
  if (kind === "batch") {
    receiver.onBatch(types, createBatchHandler(name), { name, ...options });
    continue;
  }
  // Of three keys, only the newest event of each counts.
  const newest = kind === "newest" && { key: ({ id }) => `${Number(id.slice(4)) % 3}`, only: "newest" };
  receiver.on(types, createHandler(name, kind), { name, ...options, ...newest });
}
if (withSubject.length > 0) receiver.onUnhandled(() => undefined);
await receiver.start();

if (config.mode === "start-and-stop") {
  await receiver.stop();
  report({ msg: "stopped" });
} else if (config.mode === "start-only") {
  report({ msg: "ready" });
} else {
  serve();
}

function serve() {
  const retryParked = async (response) =>
    response.end(JSON.stringify(await receiver.inbox.retryAll({ state: "parked" })));
  const meddle = async (how, response) => {
    await MEDDLERS[how](config.file);
    response.end();
  };
  const server = createServer(
    receiver.listener({
      path: "/hooks",
      next: (request, response) => {
        const meddler = request.headers["x-meddle"];
        if (request.url === "/retry-parked") void retryParked(response);
        else if (meddler !== undefined) void meddle(meddler, response);
        else response.writeHead(404).end();
      },
    }),
  );
  server.listen(config.port, "127.0.0.1", () => report({ msg: "ready" }));

  process.once("SIGTERM", () => void stop());
  // The process is not told to exit: it must end because nothing is left to do.
  async function stop() {
    report({ msg: "stopping" });
    if (config.closeListenerFirst) server.close();
    await receiver.stop({ timeoutMs: config.stopTimeoutMs ?? 5_000 });
    if (!config.closeListenerFirst) server.close();
    report({ msg: "stopped" });
  }
}
