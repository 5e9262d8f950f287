import { copyFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { DashboardOverview } from "#pigeonhole/dashboard/dashboard-api.js";
import { captureLog, makeEvent, openReceiver, post, tempFile } from "../support/receiver.js";
import { HOST, openDashboard } from "./dashboard-client.js";

/** A receiver with one event, on a file that can be taken away. */
async function start() {
  const file = tempFile();
  const log = captureLog();
  const receiver = openReceiver({ store: file, logger: log.logger });
  receiver.on("email.sent", () => undefined);
  await receiver.start();
  await post(receiver, makeEvent());
  return { file, log, receiver, dashboard: openDashboard(receiver) };
}

function moveFiles(from: string, to: string): void {
  for (const name of readdirSync(dirname(from))) {
    const end = name.slice(basename(from).length);
    if (name.startsWith(basename(from)) && ["", "-wal", "-shm"].includes(end))
      renameSync(join(dirname(from), name), to + end);
  }
}

const LOST = { status: 503, body: { code: "store_replaced" } };

test.each(["before", "after"])(
  "files that are away are said to be, %s a delivery has met it, until they are back",
  async (when) => {
    const { file, receiver, dashboard } = await start();
    const look = () => dashboard.get<DashboardOverview>("api/overview");
    expect((await look()).status).toBe(200);
    moveFiles(file, `${file}.away`);
    if (when === "after") expect((await post(receiver, makeEvent())).status).toBe(503);
    const lost = await look();
    expect(lost).toMatchObject(LOST);
    expect(lost.text).toContain("was moved, deleted or replaced while it was open");
    expect(await dashboard.get("api/events")).toMatchObject(LOST);

    moveFiles(`${file}.away`, file);
    await expect.poll(async () => (await look()).status, { timeout: 5_000 }).toBe(200);
    await expect.poll(async () => (await post(receiver, makeEvent())).status, { timeout: 5_000 }).toBe(200);
    expect((await look()).status).toBe(200);
  },
);

test("a dashboard that is opened while the file is away works once it is back", async () => {
  const { file, dashboard } = await start();
  renameSync(file, `${file}.away`);
  expect(await dashboard.get("api/overview")).toMatchObject(LOST);
  renameSync(`${file}.away`, file);
  expect((await dashboard.get("api/overview")).status).toBe(200);
});

test("another file in the place of the receiver's is neither shown nor changed", async () => {
  const { file, receiver, dashboard } = await start();
  expect((await dashboard.get("api/overview")).status).toBe(200);
  const other = `${file}.other`;
  await receiver.inbox.backup(other);
  renameSync(file, `${file}.away`);
  copyFileSync(other, file);
  expect(await dashboard.get("api/overview")).toMatchObject(LOST);
  expect(await dashboard.get("api/events")).toMatchObject(LOST);
  rmSync(file);
  renameSync(`${file}.away`, file);
  expect((await dashboard.get("api/overview")).status).toBe(200);
});

test("an open page is told why the store cannot be read, and when it can be again", async () => {
  const { file, log, dashboard } = await start();
  const response = await dashboard.fetch(new Request(`${HOST}/api/stream`));
  let text = "";
  void (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
  })();
  await expect.poll(() => text, { timeout: 3_000 }).toContain("event: jobs");
  moveFiles(file, `${file}.away`);
  await expect.poll(() => text, { timeout: 3_000 }).toMatch(/event: trouble\ndata: .*was moved, deleted or replaced/);
  await dashboard.get("api/overview");
  // A look for jobs may have met it first.
  const logged = log.lines.filter(({ msg }) => /^dashboard_(failed|job_interrupted)$/.test(msg));
  expect(logged).toMatchObject([{ code: "store_replaced" }]);
  moveFiles(`${file}.away`, file);
  await expect.poll(() => text, { timeout: 5_000 }).toContain('event: trouble\ndata: {"message":null}');
});
