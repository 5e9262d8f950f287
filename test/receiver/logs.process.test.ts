import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createReceiver, DoNotRetry, type Logger, PigeonholeError } from "pigeonhole";
import { ApiError } from "pigeonhole/client";
import { TEST_SECRET } from "pigeonhole/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { CANARY, runCanaries } from "./canary-scenario.js";
import { captureLog, makeEvent, openReceiver, post, stopAfterTest, untilWork } from "../support/receiver.js";

const tsx = createRequire(import.meta.url).resolve("tsx/cli");

/** What the scenario must have run into for its silence to mean something. */
const EVENTS_OF_THE_LOG = [
  "not_started",
  "handler_failed",
  "handler_dead",
  "parked",
  "test_event",
  "alarm",
  "alarm_hook_threw",
  "handler_queue_failed",
];

test("no log line, alarm, answer, metric or error of the API contains a secret, a body, a signature or an address", async () => {
  const log = captureLog();
  const { told, signatures, outcomes } = await runCanaries(log.logger);
  expect(new Set(outcomes)).toEqual(
    new Set([
      "not_started",
      "accepted",
      "parked",
      "duplicate",
      "unverified",
      "unreadable",
      "unsupported_encoding",
      "store_unavailable",
      "stopping",
    ]),
  );
  const messages = new Set(log.lines.map(({ msg }) => msg));
  for (const name of EVENTS_OF_THE_LOG) expect(messages).toContain(name);
  const alarms = new Set(log.named("alarm").map(({ alarm }) => alarm));
  expect(alarms).toEqual(
    new Set([
      "other_bytes",
      "older_secret_matched",
      "signature_mismatches",
      "signature_unreadable",
      "final_answer",
      "clock_skew",
      "store_unavailable",
    ]),
  );
  expect(told.length).toBeGreaterThan(40);
  expect(told).not.toContain("no error");

  for (const text of [...told, ...log.lines.map((line) => JSON.stringify(line))]) {
    expect(text).not.toContain(CANARY);
    for (const signature of signatures) expect(text).not.toContain(signature);
  }
});

test("a process with the default logger writes no secret, body, signature or address", () => {
  const child = spawnSync(process.execPath, [tsx, join(import.meta.dirname, "canary-child.ts")], { encoding: "utf8" });
  expect(child.stderr).toBe("");
  expect(child.status).toBe(0);
  expect(child.stdout).toMatch(/^signatures \d\d$/m);
  for (const name of EVENTS_OF_THE_LOG) expect(child.stdout).toContain(`"${name}"`);
  expect(child.stdout).not.toContain(CANARY);
});

test("the log of a failure has its place and kind, and with logErrorMessages its message", async () => {
  for (const logErrorMessages of [false, true, undefined]) {
    const log = captureLog();
    const receiver = openReceiver({ logger: log.logger, logErrorMessages, retry: { maxAttempts: 1 } });
    receiver.on("email.sent", () => {
      throw Object.assign(new TypeError(CANARY), { code: "E_MINE" });
    });
    await receiver.start();
    const event = makeEvent();
    await post(receiver, event);
    await untilWork(receiver, event.id, { state: "dead", error: `TypeError: ${CANARY} (E_MINE)` });
    const [line] = log.named("handler_dead");
    const fields = { eventId: event.id, handler: "email.sent", attempt: 1, error: "TypeError", code: "E_MINE" };
    expect(line).toMatchObject({ level: 50, ...fields, reason: "attempts_spent" });
    // Undefined is true in a receiver for tests.
    expect(line?.["message"]).toBe(logErrorMessages === false ? undefined : CANARY);
    expect(JSON.stringify(line?.["at"])).toContain("logs.process.test.ts");
  }
});

test.each([
  ["development", CANARY],
  ["test", CANARY],
  ["production", undefined],
  ["Development", undefined],
  ["staging", undefined],
  ["", undefined],
  [undefined, undefined],
])("without logErrorMessages the message of a handler's error is logged by NODE_ENV: %s", async (name, message) => {
  vi.stubEnv("NODE_ENV", name);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { logger, named } = captureLog();
  const retry = { maxAttempts: 1 };
  const receiver = stopAfterTest(createReceiver({ secrets: TEST_SECRET, store: ":memory:", logger, retry }));
  receiver.on("email.sent", () => {
    throw new Error(CANARY);
  });
  await receiver.start();
  const event = makeEvent();
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "dead" });
  expect(named("handler_dead")[0]).toHaveProperty("error", "Error");
  expect(named("handler_dead")[0]?.["message"]).toBe(message);
});

/** The line of the failure of a handler that does this, in production. */
async function failureOf(handle: Parameters<ReturnType<typeof openReceiver>["on"]>[1]) {
  const log = captureLog();
  const receiver = openReceiver({ logger: log.logger, logErrorMessages: false, retry: { maxAttempts: 1 } });
  receiver.on("email.sent", handle);
  await receiver.start();
  const event = makeEvent();
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "dead" });
  return log.named("handler_dead")[0];
}

test("the message of an error of this package is logged without logErrorMessages", async () => {
  const line = await failureOf((_, ctx) => {
    ctx.contactEvents.record({ name: "order.shipped", email: CANARY });
  });
  expect(line).toMatchObject({ error: "PigeonholeError", code: "api_not_configured" });
  expect(line?.["message"]).toContain("option api");
});

test.each<[string, Error]>([
  ["names a value of the handler", new PigeonholeError("duplicate_step", `Step "${CANARY}" was used twice.`)],
  ["quotes an argument", new PigeonholeError("invalid_argument", `"${CANARY}" is not a duration.`)],
  [
    "is the service's",
    new ApiError({
      call: "contactEvents.send",
      status: 404,
      code: "contact_not_found",
      message: `There is no contact ${CANARY}.`,
      param: "email",
      requestId: "req_1",
      retryAfterMs: undefined,
    }),
  ],
  ["is the handler's", new Error(CANARY)],
])("a message that %s is not logged without logErrorMessages", async (_, error) => {
  const line = await failureOf(() => {
    throw error;
  });
  expect(line).toMatchObject({ error: error.name });
  expect(line).not.toHaveProperty("message");
  expect(JSON.stringify(line)).not.toContain(CANARY);
});

test("the name and the code of an error are logged only where they are single words", async () => {
  const line = await failureOf(() => {
    throw Object.assign(new Error("no"), { name: `${CANARY}@example.com`, code: `${CANARY} 1` });
  });
  expect(line).toMatchObject({ error: "Error" });
  expect(JSON.stringify(line)).not.toContain(CANARY);
});

test("a line of a message that looks like a stack frame is not logged", async () => {
  const log = captureLog();
  const receiver = openReceiver({ logger: log.logger, logErrorMessages: false });
  receiver.on("email.sent", () => {
    throw new Error(`cannot read:\nlet us meet\n  at noon, ${CANARY}`);
  });
  await receiver.start();
  const event = makeEvent();
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "retrying", attempts: 1 });
  expect(log.named("handler_failed")).toHaveLength(1);
  expect(JSON.stringify(log.lines)).not.toContain(CANARY);
});

test("a logger that throws changes no answer, no retry and no alarm, and stops nothing", async () => {
  const broken = (): never => {
    throw new Error("the destination is closed");
  };
  const logger: Logger = { debug: broken, info: broken, warn: broken, error: broken, child: () => logger };
  const alarms: string[] = [];
  const receiver = openReceiver({
    logger,
    onAlarm: ({ kind }) => alarms.push(kind),
    retry: { initialMs: 1, maxAttempts: 2 },
  });
  receiver.on("email.sent", () => {
    throw new Error("not now");
  });
  await receiver.start();
  const event = makeEvent();
  expect((await post(receiver, event)).outcome).toBe("accepted");
  await untilWork(receiver, event.id, { state: "dead", attempts: 2 });
  expect((await post(receiver, "not JSON")).outcome).toBe("parked");
  expect((await post(receiver, { ...event, data: { other: true } })).outcome).toBe("duplicate");
  expect(alarms).toEqual(["other_bytes"]);
  await receiver.stop();
});

test("control characters of an id or a type are logged as escapes, and the alarm's hook gets them unchanged", async () => {
  const lines: [fields: object, message: string][] = [];
  const write = (fields: object, message: string): void => void lines.push([fields, message]);
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  const ids: unknown[] = [];
  const receiver = openReceiver({
    logger,
    onAlarm: (alarm) => ids.push("eventId" in alarm ? alarm.eventId : undefined),
  });
  receiver.on("email.sent", () => {
    throw new DoNotRetry("no");
  });
  await receiver.start();
  const id = "evt_\u001b]0;title\u0007\u009b2J\u202e";
  const event = makeEvent({ id });
  await post(receiver, event);
  await untilWork(receiver, id, { state: "dead" });
  await post(receiver, { ...event, data: { other: true } });
  await post(receiver, makeEvent({ id: `${id}2`, type: "new\u001b.type" }));
  const messages = lines.map(([, message]) => message);
  for (const message of ["handler_dead", "other_bytes", "alarm", "parked"]) expect(messages).toContain(message);
  for (const [fields] of lines) expect(Object.values(fields).join(" ")).not.toMatch(/\p{Cc}|\u202e/u);
  expect(ids).toEqual([id]);
});
