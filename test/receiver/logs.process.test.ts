import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Alarm, DoNotRetry, type Logger, PigeonholeError, type ReceiverOptions } from "pigeonhole";
import { ApiError } from "pigeonhole/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { resolveOptions } from "#pigeonhole/receiver/options.js";
import { CANARY, runCanaries } from "./canary-scenario.js";
import { captureLog, makeEvent, post } from "../support/receiver.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";

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

/** The lines about a handler that throws this in production, as far as the options do not say otherwise. */
async function linesOf(thrown: unknown, options: Partial<ReceiverOptions<Record<never, never>>> = {}) {
  const log = captureLog();
  const production = { logger: log.logger, logErrorMessages: false, retry: { maxAttempts: 1 } };
  const receiver = await startReceiver({ ...production, ...options }, { "email.sent": () => Promise.reject(thrown) });
  await postUntil(receiver, { state: "dead" });
  const [line] = log.named("handler_dead");
  return { line, told: JSON.stringify(log.lines) };
}

test.each([true, false])(
  "a failure is logged with its place and kind, and its message if asked: %s",
  async (isAsked) => {
    const mine = Object.assign(new TypeError(CANARY), { code: "E_MINE" });
    const { line } = await linesOf(mine, { logErrorMessages: isAsked });
    const fields = { handler: "email.sent", attempt: 1, error: "TypeError", code: "E_MINE", reason: "attempts_spent" };
    expect(line).toMatchObject({ level: 50, ...fields });
    expect(line?.["message"]).toBe(isAsked ? CANARY : undefined);
    expect(JSON.stringify(line?.["at"])).toContain("logs.process.test.ts");
  },
);

test.each([
  ["development", true],
  ["test", true],
  ["production", false],
  ["Development", false],
  ["", false],
  [undefined, false],
])("without logErrorMessages, NODE_ENV says whether messages of handlers' errors are logged: %s", (name, isLogged) => {
  vi.stubEnv("NODE_ENV", name);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(resolveOptions({ secrets: "", store: ":memory:" }).logErrorMessages).toBe(isLogged);
});

test("the message of an error of this package is logged without logErrorMessages", async () => {
  const { line } = await linesOf(new PigeonholeError("api_not_configured", "It needs the option api."));
  expect(line).toMatchObject({ error: "PigeonholeError", message: "It needs the option api." });
});

const answered = { call: "contactEvents.send", status: 404, code: "contact_not_found", param: "email" } as const;

test.each<[string, Error, string]>([
  [
    "a message that names a value of the handler",
    new PigeonholeError("duplicate_step", `Step "${CANARY}" was used twice.`),
    "PigeonholeError",
  ],
  [
    "a message that quotes an argument",
    new PigeonholeError("invalid_argument", `"${CANARY}" is not a duration.`),
    "PigeonholeError",
  ],
  [
    "a message of the service",
    new ApiError({
      ...answered,
      message: `There is no contact ${CANARY}.`,
      requestId: "req_1",
      retryAfterMs: undefined,
    }),
    "ApiError",
  ],
  ["a line of a message that looks like a stack frame", new Error(`no:\nlet us meet\n  at noon, ${CANARY}`), "Error"],
  [
    "a name and a code that are no single words",
    Object.assign(new Error("no"), { name: `${CANARY}@example.com`, code: `${CANARY} 1` }),
    "Error",
  ],
])("without logErrorMessages, %s is not logged", async (_, thrown, error) => {
  const { line, told } = await linesOf(thrown);
  expect(line).toMatchObject({ error });
  expect(line).not.toHaveProperty("message");
  expect(told).not.toContain(CANARY);
});

test("a logger that throws changes no answer, no retry and no alarm, and stops nothing", async () => {
  const broken = (): never => {
    throw new Error("the destination is closed");
  };
  const logger: Logger = { debug: broken, info: broken, warn: broken, error: broken, child: () => logger };
  const alarms: string[] = [];
  const options = { logger, onAlarm: ({ kind }: Alarm) => alarms.push(kind), retry: { initialMs: 1, maxAttempts: 2 } };
  const receiver = await startReceiver(options, { "email.sent": () => Promise.reject(new Error("not now")) });
  const event = await postUntil(receiver, { state: "dead", attempts: 2 });
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
  const receiver = await startReceiver(
    { logger, onAlarm: (alarm) => ids.push("eventId" in alarm ? alarm.eventId : undefined) },
    { "email.sent": () => Promise.reject(new DoNotRetry("no")) },
  );
  const id = "evt_\u001b]0;title\u0007\u009b2J\u202e";
  const event = await postUntil(receiver, { state: "dead" }, { id });
  await post(receiver, { ...event, data: { other: true } });
  await post(receiver, makeEvent({ id: `${id}2`, type: "new\u001b.type" }));
  const messages = lines.map(([, message]) => message);
  for (const message of ["handler_dead", "other_bytes", "alarm", "parked"]) expect(messages).toContain(message);
  for (const [fields] of lines) expect(Object.values(fields).join(" ")).not.toMatch(/\p{Cc}|\u202e/u);
  expect(ids).toEqual([id]);
});
