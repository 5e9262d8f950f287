import { Client } from "pg";
import { expect, test } from "vitest";
import { checkServer } from "#pigeonhole/store/postgres/check-server.js";
import { Sql, Statements } from "#pigeonhole/store/postgres/sql.js";
import { errorOf } from "../../support/error-of.js";

const USABLE = {
  isReplica: false,
  version: 14,
  encoding: "UTF8",
  fsync: "on",
  fullPageWrites: "on",
  synchronousCommit: "on",
  isReadOnly: "off",
};

/** A server that says this of itself; a server that is started for a test cannot say all of it. */
class ToldSql extends Sql {
  readonly #state: object;

  constructor(state: object) {
    super(new Client(), new Statements("unused"));
    this.#state = state;
  }

  override row<Row extends object>(): Promise<Row | undefined> {
    return Promise.resolve(this.#state as Row);
  }
}

test.each([
  ["the oldest version", {}],
  ["a newer version", { version: 18 }],
  ["a standby that has to apply", { synchronousCommit: "remote_apply" }],
])("the check of a server takes %s", async (_, told) => {
  await expect(checkServer(new ToldSql({ ...USABLE, ...told }))).resolves.toBeUndefined();
});

test.each([
  ["a version that is too old", { version: 13 }, "server_unusable", /is PostgreSQL 13; 14 or newer is needed/],
  ["a replica", { isReplica: true }, "store_not_primary", /replica.* Connect to the primary/],
  ["read-only transactions", { isReadOnly: "on" }, "store_not_primary", /read-only.* Connect to the primary/],
  ["another encoding", { encoding: "LATIN1" }, "server_unusable", /LATIN1.*create one with ENCODING 'UTF8'/],
  ["fsync off", { fsync: "off" }, "store_not_durable", /fsync = off.*Set it to on/],
  ["half pages", { fullPageWrites: "off" }, "store_not_durable", /full_page_writes = off.*Set it to on/],
  [
    "commits that do not wait",
    { synchronousCommit: "local" },
    "store_not_durable",
    /synchronous_commit = local.*Set it to on/,
  ],
])("the check of a server refuses %s, and says what to do", async (_, told, code, message) => {
  const error = await errorOf(() => checkServer(new ToldSql({ ...USABLE, ...told })));
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
});
