import { describe, expect, test } from "vitest";
import type { PostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { sendSettlements } from "../conformance/new-record.js";
import { recordKeys, takeSend } from "../conformance/outbox-fixture.js";
import { openStore } from "./store-on.js";

const maySend = async (store: PostgresStore): Promise<boolean | undefined> => store.maySend?.();

describeOnPostgres((database) => {
  async function openPair(): Promise<[PostgresStore, PostgresStore]> {
    return [await openStore(database), await openStore(database, database.url)];
  }

  /** As if the sender had used its right so long ago. */
  const pass = (seconds: number) =>
    database.pool.query(
      `UPDATE ${database.schema}.outbox_sender SET used_at = used_at - make_interval(secs => ${seconds})`,
    );

  describe("the process that makes the calls", () => {
    test("is the first that asks, as long as it asks", async () => {
      const [first, second] = await openPair();
      for (let minute = 0; minute < 3; minute += 1) {
        expect(await maySend(first)).toBe(true);
        expect(await maySend(second)).toBe(false);
        await pass(50);
      }
    });

    test("is one of those that ask at once", async () => {
      const [first, second] = await openPair();
      const answers = await Promise.all([first, second, first, second].map(maySend));
      expect(answers[0]).not.toBe(answers[1]);
      expect([answers[2], answers[3]]).toEqual([answers[0], answers[1]]);
    });

    test.each([
      [59, false],
      [61, true],
    ])("is another one when it has made no call for %i s: %j", async (seconds, changes) => {
      const [first, second] = await openPair();
      await maySend(first);
      await pass(seconds);
      expect(await maySend(second)).toBe(changes);
      expect(await maySend(first)).toBe(!changes);
    });

    test("is another one at once when it is gone", async () => {
      const [first, second] = await openPair();
      expect(await maySend(second)).toBe(true);
      await second.close();
      await expect.poll(() => maySend(first)).toBe(true);
    });

    test("stays the same during a call", async () => {
      const [first, second] = await openPair();
      await maySend(first);
      await recordKeys(first, "a");
      const send = await takeSend(first);
      await pass(600);
      expect(await maySend(second)).toBe(false);
      await first.settleSend(sendSettlements.pending(send));
      expect(await maySend(second)).toBe(true);
    });
  });
});
