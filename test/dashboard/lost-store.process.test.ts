import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ReceiverOptions } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import type { OverviewFigures, StepValues } from "#pigeonhole/dashboard/state-now.js";
import { makeFolder } from "../support/folder.js";
import { captureLog, makeEvent, makeGate, openReceiver, post, tempFile } from "../support/receiver.js";
import { HOST, openDashboard } from "./dashboard-client.js";

/** A receiver with one event, on a file that can be taken away. */
async function start(options: Pick<ReceiverOptions, "clock"> = {}) {
  const file = tempFile();
  const log = captureLog();
  const receiver = openReceiver({ ...options, store: file, logger: log.logger });
  receiver.on("email.sent", () => undefined, { name: "quick" });
  const gate = makeGate();
  receiver.on("email.bounced", () => gate.passed, { name: "slow" });
  await receiver.start();
  await post(receiver, makeEvent());
  return { file, log, receiver, gate, dashboard: openDashboard(receiver) };
}

function moveFiles(from: string, to: string): void {
  for (const name of readdirSync(dirname(from))) {
    const end = name.slice(basename(from).length);
    if (name.startsWith(basename(from)) && ["", "-wal", "-shm"].includes(end))
      renameSync(join(dirname(from), name), to + end);
  }
}

const LOST = { status: 503, body: { code: "store_replaced" } };

/** What this process knows by itself. */
const FROM_MEMORY = {
  status: 200,
  body: {
    range: "1h",
    now: {
      trouble: { code: "store_replaced", message: expect.stringContaining("was moved, deleted or replaced") },
      state: "running",
      processes: [{ isThis: true, pid: process.pid }],
      store: null,
    },
  },
};

const total = (values: StepValues | undefined) => (values ?? []).reduce<number>((sum, value) => sum + (value ?? 0), 0);

test.each(["before", "after"])(
  "files that are away are said to be, %s a delivery has met it, until they are back",
  async (when) => {
    const { file, receiver, dashboard } = await start();
    const look = () => dashboard.get<OverviewFigures>("api/overview");
    expect((await look()).body.now.trouble).toBeNull();
    moveFiles(file, `${file}.away`);
    if (when === "after") expect((await post(receiver, makeEvent())).status).toBe(503);
    await expect.poll(look).toMatchObject(FROM_MEMORY);
    expect(await dashboard.get("api/events")).toMatchObject(LOST);

    moveFiles(`${file}.away`, file);
    const trouble = async () => (await look()).body.now.trouble;
    await expect.poll(trouble).toBeNull();
    await expect.poll(async () => (await post(receiver, makeEvent())).status).toBe(200);
    expect(await trouble()).toBeNull();
  },
);

test("while the files are away, the overview shows what this process knows", async () => {
  const { file, receiver, dashboard, gate } = await start();
  await post(receiver, makeEvent({ type: "email.bounced" }));
  moveFiles(file, `${file}.away`);
  for (let n = 0; n < 20; n += 1) expect((await post(receiver, makeEvent())).status).toBe(503);
  const { body } = await dashboard.get<OverviewFigures>("api/overview?range=7d");
  expect(body).toMatchObject(FROM_MEMORY.body);
  expect(total(body.answers.accepted)).toBe(2);
  expect(total(body.answers.store_unavailable)).toBe(20);
  expect(body.latency.p95FromMs.some((ms) => ms !== null)).toBe(true);
  expect(body.now.endpoint).toMatchObject({ failuresInARow: 20, lastAcceptedAt: expect.any(String) });
  expect(body.now.alarms.map(({ kind, text }) => [kind, text])).toEqual([
    ["failures_in_a_row", expect.stringMatching(/^20 answers in a row were no success\./)],
    ["store_unavailable", "The store cannot be reached: store_replaced."],
  ]);
  expect(await dashboard.get("api/running")).toMatchObject({ status: 200, body: { items: [{ handler: "slow" }] } });
  // The secret was not read before: who looks is known, and nothing can be done.
  expect(await dashboard.get("api/session")).toMatchObject({ status: 200, body: { name: "ann" } });
  expect(await dashboard.post("api/handlers/pause", { handler: "slow" })).toMatchObject(LOST);
  gate.open();
  moveFiles(`${file}.away`, file);
  const pause = async () => (await dashboard.post("api/handlers/pause", { handler: "slow" })).status;
  await expect.poll(pause).toBe(200);
});

test("a store that could not be opened is told before the receiver runs, and actions are refused", async () => {
  const file = join(makeFolder(), "absent", "inbox.db");
  const receiver = openReceiver({ store: file });
  const dashboard = openDashboard(receiver);
  const look = async () => (await dashboard.get<OverviewFigures>("api/overview")).body.now;
  const notStarted = {
    code: "not_started",
    message: "The receiver was not started yet, so its store is not open.",
    advice: expect.stringContaining("must call start()"),
  };
  expect((await look()).trouble).toEqual(notStarted);
  const words = expect.stringMatching(/^The receiver was not started yet.*must call start\(\)/) as string;
  for (const path of ["errors", "handlers", "events"])
    expect(await dashboard.get(`api/${path}`)).toMatchObject({
      status: 503,
      body: { code: "stopped", message: words },
    });
  await expect(receiver.start()).rejects.toThrow();
  const message = expect.stringMatching(/^The receiver could not start: /) as string;
  expect(await look()).toMatchObject({ state: "new", trouble: { message } });
  expect(await dashboard.get("api/events")).toMatchObject({ status: 503, body: { message } });
  expect((await dashboard.get("api/session")).body).toMatchObject({ name: "ann", database: null });
  mkdirSync(dirname(file));
  await receiver.start();
  expect(await look()).toMatchObject({ state: "running", trouble: null });
  await receiver.stop();
  expect(await dashboard.get("api/overview")).toMatchObject({ status: 503, body: { code: "stopped" } });
});

test("the overview says why open jobs wait while the file is away, and that they go on once it is back", async () => {
  const clock = fakeClock();
  const { file, dashboard } = await start({ clock });
  const look = async () => {
    await clock.advance(31_000);
    return (await dashboard.get<OverviewFigures>("api/overview")).body.now.jobTrouble;
  };
  expect(await look()).toBeNull();
  moveFiles(file, `${file}.away`);
  await expect.poll(look).toMatchObject({ code: "store_replaced", message: expect.any(String) });
  moveFiles(`${file}.away`, file);
  await expect.poll(look).toBeNull();
});

test("nobody sees the memory of a process whom the app does not let in", async () => {
  const { file, receiver } = await start();
  moveFiles(file, `${file}.away`);
  const dashboard = openDashboard(receiver, { allow: () => undefined });
  for (const path of ["overview", "running", "session", "stream"])
    expect((await dashboard.get(`api/${path}`)).status, path).toBe(403);
});

test("another file in the place of the receiver's is neither shown nor changed", async () => {
  const { file, receiver, dashboard } = await start();
  expect((await dashboard.get("api/overview")).status).toBe(200);
  const other = `${file}.other`;
  await receiver.inbox.backup(other);
  renameSync(file, `${file}.away`);
  copyFileSync(other, file);
  await expect.poll(() => dashboard.get("api/overview")).toMatchObject(FROM_MEMORY);
  expect(await dashboard.get("api/events")).toMatchObject(LOST);
  rmSync(file);
  renameSync(`${file}.away`, file);
  const isBack = { status: 200, body: { now: { trouble: null } } };
  await expect.poll(() => dashboard.get("api/overview")).toMatchObject(isBack);
});

test("an open page is told why the store cannot be read, and when it can be again", async () => {
  const { file, log, dashboard } = await start();
  const response = await dashboard.fetch(new Request(`${HOST}/api/stream`));
  let text = "";
  void (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
  })();
  await expect.poll(() => text).toContain("event: jobs");
  moveFiles(file, `${file}.away`);
  await expect.poll(() => text).toMatch(/event: now\ndata: .*was moved, deleted or replaced/);
  await dashboard.get("api/overview");
  // A look for jobs may have met it first.
  const logged = log.lines.filter(({ msg }) => /^dashboard_(failed|job_interrupted)$/.test(msg));
  expect(logged).toMatchObject([{ code: "store_replaced" }]);
  moveFiles(`${file}.away`, file);
  await expect.poll(() => text.split("event: now").at(-1)).toMatch(/^\ndata: \S.*"trouble":null/);
});
