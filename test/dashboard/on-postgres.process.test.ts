import { type Receiver, type Store, createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import type { PageSession } from "#pigeonhole/web/api/session.js";
import type { ErrorGroupList } from "#pigeonhole/store/error-groups.js";
import type { WholeEvent } from "#pigeonhole/web/api/event.js";
import type { BulkJob } from "#pigeonhole/store/bulk-jobs.js";
import type { BulkJobList } from "#pigeonhole/dashboard/job-body.js";
import type { OverviewFigures, RunningWork } from "#pigeonhole/dashboard/state-now.js";
import type { HandlerReport } from "#pigeonhole/web/api/handlers.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { type TestDatabase, describeOnPostgres } from "../support/postgres-server.js";
import { closeReceiver, makeEvent, makeGate, post } from "../support/receiver.js";
import { type DashboardClient, openDashboard } from "./dashboard-client.js";

/** A receiver on the database, which any number of others may share. */
async function start({ pool, schema }: TestDatabase): Promise<{ receiver: Receiver; dashboard: DashboardClient }> {
  const store = createPostgresStore({ pool, schema }) as Store<unknown> as Store;
  const receiver = createReceiver({ secrets: TEST_SECRET, store, logger: silentLogger, telemetry: false });
  const gate = makeGate();
  receiver.on("email.sent", () => Promise.reject(new TypeError("no luck")), { retry: { maxAttempts: 1 } });
  receiver.on("email.opened", () => gate.passed);
  await receiver.start();
  onTestFinished(() => {
    gate.open();
    return closeReceiver(receiver);
  });
  return { receiver, dashboard: openDashboard(receiver) };
}

describeOnPostgres((database) => {
  test("dashboards of two processes show one store, and one goes on with what the other began", async () => {
    const one = await start(database);
    const other = await start(database);
    const ids = [makeEvent(), makeEvent(), makeEvent()];
    for (const event of ids) await post(one.receiver, event);
    await expect.poll(async () => (await one.receiver.stats()).dead).toBe(3);

    const session = (await one.dashboard.get<PageSession>("api/session")).body;
    expect(session.database).toMatch(/^postgres:/);
    expect(new URL(session.database ?? "").password).toBe("");
    const [event] = ids;
    const detail = (await other.dashboard.get<WholeEvent>(`api/events/${event?.id ?? ""}`)).body;
    expect(detail.timeline.map(({ kind }) => kind)).toEqual(["signed", "received", "failed", "dead"]);
    const errors = (await other.dashboard.get<ErrorGroupList>("api/errors")).body;
    expect(errors.items).toMatchObject([{ kind: "TypeError", events: 3, states: { dead: 3 } }]);

    // All processes name groups with the secret of the store.
    const job = { action: "discard", filter: { errorGroup: errors.items[0]?.id } };
    const created = await other.dashboard.post<BulkJob>("api/jobs", job);
    expect(created).toMatchObject({ status: 200, body: { by: "ann", total: 3 } });
    const jobs = async () => (await one.dashboard.get<BulkJobList>("api/jobs")).body.jobs;
    await expect.poll(jobs).toMatchObject([{ state: "done", done: 3 }]);

    await one.dashboard.post("api/handlers/pause", { handler: "email.sent" });
    const { handlers } = (await other.dashboard.get<HandlerReport>("api/handlers")).body;
    expect(handlers.find(({ handler }) => handler === "email.sent")?.paused).toMatchObject({ by: "ann" });

    await post(one.receiver, makeEvent({ type: "email.opened" }));
    const running = async () => (await one.dashboard.get<RunningWork>("api/running")).body.items;
    const runningOfOther = async () => (await other.dashboard.get<RunningWork>("api/running")).body.items;
    const both = async () => [...(await running()), ...(await runningOfOther())].map(({ handler }) => handler);
    await expect.poll(both).toContain("email.opened");
    const { now } = (await one.dashboard.get<OverviewFigures>("api/overview?range=24h")).body;
    expect(now).toMatchObject({ state: "running", store: { dead: 0 }, paused: [{ handler: "email.sent" }] });
  });
});
