import type { ContactEventRow } from "#pigeonhole/dev/api/page-api.js";
import type { DashboardContactEventPage } from "#pigeonhole/dashboard/api/contact-events.js";
import type { Store } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { type FakeClock, fakeClock } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { apiOf, openService, namesIn } from "../outbox/outbox-harness.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { openReceiver, tempFile } from "../support/receiver.js";
import { openDashboard } from "./dashboard-client.js";

/** A receiver with an API that fails as the tests say, and its dashboard. A fake clock moves with each look only. */
async function start(store: string | Store, clock?: FakeClock) {
  const service = await openService();
  const receiver = openReceiver({ store, api: apiOf(service), ...(clock && { clock }) });
  await receiver.start();
  const dashboard = openDashboard(receiver, { payloads: "full" });
  const rowOf = async (name: string): Promise<ContactEventRow | undefined> => {
    const { body } = await dashboard.get<DashboardContactEventPage>(`api/outbox?name=${name}`);
    return body.items[0];
  };
  return {
    service,
    rowOf,
    send: (name: string, email = "ada@example.com") => receiver.contactEvents.record({ name, email }),
    change: async (action: "retry" | "discard", ...names: string[]) => {
      const ids = (await Promise.all(names.map(rowOf))).map((row) => row?.key ?? "");
      return (await dashboard.post(`api/outbox/${action}`, { ids })).body;
    },
    until: (name: string, row: object) => {
      const look = async () => {
        await clock?.advance(50);
        return rowOf(name);
      };
      return expect.poll(look, { timeout: 10_000, interval: 20 }).toMatchObject(row);
    },
  };
}

function testsOn(createStore: () => string | Store): void {
  test("a call that fails waits with its reason, its tries and its next try, and is taken once", async () => {
    const clock = fakeClock();
    const { service, send, until } = await start(createStore(), clock);
    service.faults.push({ status: 429, retryAfter: "1" }, "lost");
    await send("stuck");
    for (const [attempts, error] of [
      [1, "HTTP 429"],
      [2, "it may have taken effect"],
    ]) {
      const dueAt = expect.toSatisfy((at: string) => Date.parse(at) > clock.now());
      await until("stuck", { state: "leased", attempts, error: expect.stringContaining(String(error)), dueAt });
    }
    await until("stuck", { attempts: 3, error: null, dueAt: null, remoteId: "cev_1" });
    expect(namesIn(service)).toEqual(["stuck"]);
  }, 30_000);

  test("a call that waits for its next try is tried now, unchanged and once", async () => {
    const { service, send, change, until } = await start(createStore());
    service.faults.push({ status: 503, retryAfter: "600" });
    await send("stuck");
    await until("stuck", { state: "leased", attempts: 1, dueAt: expect.any(String) });
    await send("behind");
    const inFront = { name: "stuck", error: expect.stringContaining("HTTP 503"), dueAt: expect.any(String) };
    await until("behind", { state: "pending", waitsBehind: inFront });
    expect(await change("retry", "behind")).toEqual({ changed: 0, failed: 1, waiting: 1 });
    const retriedAt = performance.now();
    expect(await change("retry", "stuck")).toEqual({ changed: 1, failed: 0 });
    await expect.poll(() => service.calls.length, { timeout: 10_000, interval: 20 }).toBeGreaterThan(1);
    // The wait was 600 s, and a store in a file was looked at every 10 s.
    expect(performance.now() - retriedAt).toBeLessThan(5_000);
    await until("stuck", { state: "done", attempts: 2, remoteId: expect.stringMatching(/^cev_/) });
    await until("behind", { state: "done" });
    expect(namesIn(service)).toEqual(["stuck", "behind"]);
    const [first, second] = service.calls;
    expect([second?.key, second?.body]).toEqual([first?.key, first?.body]);
  }, 30_000);

  test("a call that is under way is not tried again, and nor is what waits behind it", async () => {
    const { service, send, change, rowOf, until } = await start(createStore());
    service.faults.push({ status: 503, retryAfter: "600" }, "held");
    await send("stuck");
    await until("stuck", { state: "leased", attempts: 1, dueAt: expect.any(String) });
    await send("behind");
    await change("retry", "stuck");
    await until("stuck", { state: "leased", attempts: 2, dueAt: null });
    expect(await change("retry", "stuck", "behind")).toEqual({ changed: 0, failed: 2, waiting: 1 });
    expect(await rowOf("stuck")).toMatchObject({ state: "leased", attempts: 2, dueAt: null });
    expect(service.calls).toHaveLength(2);
  }, 30_000);

  test("a call that the service refused is sent again once it can be taken, once however often it is retried", async () => {
    const { service, send, change, until } = await start(createStore());
    await send("early", "nobody@example.com");
    const message = expect.stringContaining("says contact_not_found");
    await until("early", { state: "dead", code: "contact_not_found", message, remoteId: null });
    service.contacts.add("nobody@example.com");
    service.faults.push("lost");
    const answers = await Promise.all([change("retry", "early"), change("retry", "early")]);
    for (const answer of answers) expect(answer).toMatchObject({ changed: expect.any(Number) });
    // A record wakes the sender, which looks every second otherwise.
    await send("nudge");
    await until("early", { state: "done", code: null, error: null, remoteId: expect.stringMatching(/^cev_/) });
    await until("nudge", { state: "done" });
    expect(await change("retry", "early")).toEqual({ changed: 0, failed: 1 });
    expect(namesIn(service).toSorted()).toEqual(["early", "nudge"]);
  }, 30_000);

  test("what is discarded before its first try or once it is dead is never taken; what was tried may have been", async () => {
    const clock = fakeClock();
    const { service, send, change, rowOf, until } = await start(createStore(), clock);
    await send("refused", "nobody@example.com");
    await until("refused", { state: "dead" });
    service.faultOf = () => ({ status: 500 });
    await send("tried");
    await until("tried", { attempts: 1, error: expect.stringContaining("HTTP 500"), dueAt: expect.any(String) });
    await send("waiting");
    expect(await change("discard", "refused", "tried", "waiting")).toEqual({ changed: 2, failed: 1, mayGoOut: 0 });
    service.contacts.add("nobody@example.com");
    service.faultOf = () => undefined;
    expect(await change("retry", "refused", "waiting")).toEqual({ changed: 0, failed: 2 });
    await until("tried", { state: "done", error: null });
    await send("next");
    await until("next", { state: "done" });
    for (const name of ["refused", "waiting"])
      expect(await rowOf(name)).toMatchObject({ state: "done", remoteId: null, dueAt: null });
    expect(namesIn(service).toSorted()).toEqual(["next", "tried"]);
  }, 30_000);
}

describe("in a file", () => testsOn(tempFile));

describeOnPostgres((database) =>
  testsOn(() => {
    const { pool, schema } = database;
    onTestFinished(async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)));
    return createPostgresStore({ pool, schema }) as Store<unknown> as Store;
  }),
);
