import { operate } from "../../support/operate.js";
import type { Glance } from "#pigeonhole/store/store.js";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import type { PostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { MINUTE, T, newEvent, settlements, context } from "../conformance/new-event.js";
import { acceptLeased, leasePage } from "../conformance/lease-page.js";
import { RESULTS, newRecord, sendSettlements } from "../conformance/new-record.js";
import { recordKeys, takeSend } from "../conformance/outbox-fixture.js";
import { openStore } from "./store-on.js";

const NOTHING: Glance = { due: [], requested: false, contactEvents: false, orphans: false, paused: [] };

function look(store: PostgresStore, now = T): Promise<Glance> {
  return store.glance?.({ handlers: ["h", "i", "j"], now }) ?? expect.unreachable();
}

describeOnPostgres((database) => {
  describe("a glance at what there is to do", () => {
    test("finds nothing in an empty store, and nothing in work that is leased or done", async () => {
      const store = await openStore(database);
      expect(await look(store)).toEqual(NOTHING);
      const lease = await acceptLeased(store, "a");
      expect(await look(store)).toEqual(NOTHING);
      await store.settle(settlements.done(lease));
      expect(await look(store)).toEqual(NOTHING);
    });

    test("names the handlers that are paused", async () => {
      const store = await openStore(database);
      const inbox = await openInbox(`${database.url}#${database.schema}`);
      await inbox.pauseHandler("h", "ann");
      await inbox.close();
      expect(await look(store)).toEqual({ ...NOTHING, paused: ["h"] });
    });

    test("names the handlers with due work, and no others", async () => {
      const store = await openStore(database);
      await store.accept(newEvent("a", { work: [{ handler: "h" }, { handler: "unknown" }] }));
      await store.accept(newEvent("b", { work: [{ handler: "j" }] }));
      const later = await acceptLeased(store, "c", { work: [{ handler: "i", leaseUntil: T + MINUTE }] });
      await store.settle(settlements.pending(later, T + 50));
      expect((await look(store)).due.toSorted()).toEqual(["h", "j"]);
      expect((await look(store, T + 50)).due.toSorted()).toEqual(["h", "i", "j"]);
      await leasePage(store);
      expect((await look(store)).due).toEqual(["j"]);
    });

    test("says that a retry was requested until the event is read again", async () => {
      const store = await openStore(database);
      const parked = { reason: "unknown_type", detail: "" };
      const stored = await store.accept(newEvent("a", { work: [], parked }));
      const seq = stored.kind === "stored" ? stored.seq : 0;
      expect(await look(store)).toEqual(NOTHING);
      await operate(store, T).changeEvent("retry", "a");
      expect(await look(store)).toEqual({ ...NOTHING, requested: true });
      await store.replan({ seq, handlers: [], parked, now: T, requested: true });
      expect(await look(store)).toEqual(NOTHING);
    });

    test("says that a call can be made, unless one is under way or waits for its next try", async () => {
      const store = await openStore(database);
      await store.record(newRecord("later", { occurredAt: T + 20 }), T);
      expect(await look(store)).toEqual(NOTHING);
      await recordKeys(store, "a");
      expect(await look(store)).toEqual({ ...NOTHING, contactEvents: true });
      const send = await takeSend(store);
      await recordKeys(store, "b");
      expect(await look(store)).toEqual(NOTHING);
      await store.settleSend(sendSettlements.pending(send, T + 10));
      expect(await look(store, T + 9)).toEqual(NOTHING);
      expect(await look(store, T + 10)).toEqual({ ...NOTHING, contactEvents: true });
      const again = await takeSend(store, { now: T + 10 });
      await store.settleSend(
        sendSettlements.settled(
          again,
          again.events.map(({ seq }) => RESULTS.done(seq)),
        ),
      );
      expect(await look(store, T + 10)).toEqual({ ...NOTHING, contactEvents: true });
    });

    test("says that this process has lost its lock, also once others have forgotten it, and that it lost one lately", async () => {
      const store = await openStore(database);
      await database.pool.query(`DELETE FROM ${database.schema}.inbox_process`);
      expect(await look(store)).toEqual(NOTHING);
      await database.pool.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pigeonhole session'`,
      );
      expect(await look(store)).toEqual({ ...NOTHING, orphans: true });
      await store.recover(T);
      expect(await look(store)).toEqual({ ...NOTHING, orphans: true });
    });

    test("says that the process which holds a lease is gone", async () => {
      const store = await openStore(database);
      const other = createPostgresStore({ connectionString: database.url, schema: database.schema });
      onTestFinished(() => other.close());
      await other.open(context);
      await other.recover(T);
      await acceptLeased(other, "a");
      expect(await look(store)).toEqual(NOTHING);
      await other.close();
      await expect.poll(() => look(store)).toEqual({ ...NOTHING, orphans: true });
      await expect
        .poll(async () => {
          await store.recover(T);
          return look(store);
        })
        .toEqual({ ...NOTHING, due: ["h"] });
    });
  });
});
