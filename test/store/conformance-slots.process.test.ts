import { describe } from "vitest";
import type { PostgresTransaction } from "#pigeonhole/store/postgres/postgres-transaction.js";
import { describeOnPostgres, type TestDatabase } from "../support/postgres-server.js";
import { describeAccept } from "./conformance/accept.js";
import { describeErase } from "./conformance/erase.js";
import { type StoreKind, useStore } from "./conformance/fixture.js";
import { context } from "./conformance/new-event.js";
import { describeLease } from "./conformance/lease.js";
import { describePrune } from "./conformance/prune.js";
import { describeReplan } from "./conformance/replan.js";
import { postgresKind } from "./postgres-kind.js";

/** Bodies of new events go into a slot, as they do once there are many. */
function slotKind(database: TestDatabase): StoreKind<PostgresTransaction> {
  const kind = postgresKind(database);
  return {
    ...kind,
    async create() {
      const created = await kind.create();
      // Makes the tables.
      await created.store.open(context);
      await created.store.close();
      await database.pool.query(`INSERT INTO ${database.schema}.inbox_body_slot (slot, opened_at) VALUES (3, 0)`);
      return created;
    },
  };
}

describeOnPostgres((database) =>
  describe("PostgreSQL, with bodies in a slot", () => {
    const fixture = useStore(slotKind(database));
    describeAccept(fixture);
    describeLease(fixture);
    describeReplan(fixture);
    describePrune(fixture);
    describeErase(fixture);
  }),
);
