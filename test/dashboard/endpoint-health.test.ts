import Database from "better-sqlite3";
import type { ReceiverOptions } from "pigeonhole";
import { expect, test } from "vitest";
import type { OverviewFigures, StateNow } from "#pigeonhole/dashboard/state-now.js";
import { jsonLines, runCli } from "../support/run-cli.js";
import { closeReceiver, makeEvent, openReceiver, post, tempFile } from "../support/receiver.js";
import { openDashboard } from "./dashboard-client.js";
import { fileStore } from "./file-store.js";
// The command loads it when it runs, which is no time of a test.
import "#pigeonhole/cli/inbox/stats.js";

const OTHER_SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

async function start(file: string, options: Pick<ReceiverOptions, "role"> = {}) {
  const receiver = openReceiver({ store: fileStore(file), ...options });
  receiver.on("email.sent", () => undefined);
  await receiver.start();
  const fail = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) await post(receiver, makeEvent(), { secret: OTHER_SECRET });
  };
  return { receiver, fail };
}

/** What the overview of a receiver says. */
async function overviewOf(receiver: Parameters<typeof openDashboard>[0]) {
  return (await openDashboard(receiver).get<OverviewFigures>("api/overview")).body.now;
}

/** What `inbox stats` says. */
async function statsOf(file: string): Promise<Pick<StateNow, "endpoint" | "state">> {
  const [record] = jsonLines(await runCli(["inbox", "stats", "--json", "--db", file]));
  return record as Awaited<ReturnType<typeof statsOf>>;
}

test("failures in a row go on over clean stops, until a delivery is accepted", async () => {
  const file = tempFile();
  for (const count of [60, 35]) {
    const { receiver, fail } = await start(file);
    await fail(count);
    await closeReceiver(receiver);
  }
  expect(await statsOf(file)).toMatchObject({ endpoint: { failuresInARow: 95 }, processes: 0, state: "stopped" });

  const { receiver, fail } = await start(file);
  expect(await overviewOf(receiver)).toMatchObject({
    state: "running",
    endpoint: { failuresInARow: 95 },
    processes: [{ isThis: true, isAlive: true }],
  });
  await fail(1);
  expect((await overviewOf(receiver)).endpoint.failuresInARow).toBe(96);
  await post(receiver, makeEvent());
  expect((await overviewOf(receiver)).endpoint.failuresInARow).toBe(0);
  await closeReceiver(receiver);
  expect((await statsOf(file)).endpoint.failuresInARow).toBe(0);
});

test("the last accepted delivery is known to those that did not take it, whether its process stopped or was killed", async () => {
  const file = tempFile();
  const { receiver: worker } = await start(file, { role: "work" });
  const { receiver: acceptor } = await start(file, { role: "accept" });
  const onPage = async () => Date.parse((await overviewOf(worker)).endpoint.lastAcceptedAt ?? "");
  const inCommand = async () => Date.parse((await statsOf(file)).endpoint.lastAcceptedAt ?? "");
  expect([await onPage(), await inCommand()]).toEqual([Number.NaN, Number.NaN]);
  const before = Date.now();
  await post(acceptor, makeEvent());
  // It has not reported since, as if it had been killed.
  await expect.poll(onPage).toBeGreaterThanOrEqual(before);
  expect(await inCommand()).toBeGreaterThanOrEqual(before);
  await closeReceiver(acceptor);
  expect(await onPage()).toBeGreaterThanOrEqual(before);

  // Retention has dropped the event.
  const database = new Database(file);
  database.exec("DELETE FROM inbox_work; DELETE FROM inbox_event");
  database.close();
  expect(await inCommand()).toBeGreaterThanOrEqual(before);
});
