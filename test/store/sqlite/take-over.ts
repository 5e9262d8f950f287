import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished } from "vitest";
import type * as sqlite from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { NewEvent, Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { makeFolder } from "../../support/folder.js";
import { context, MINUTE, newEvent, settlements, T } from "../conformance/new-event.js";
import { leasePage } from "../conformance/lease-page.js";

/** The store in a file, of one build of the package. */
export type SqliteBuild = Pick<typeof sqlite, "createSqliteStore">;

/** Processes on a new file: stores of the build, which are closed after the test. */
export function openOn({ createSqliteStore }: SqliteBuild) {
  const file = join(makeFolder(), "inbox.db");
  /** A store that only accepts. */
  const openBeside = async (): Promise<Store> => {
    const store = createSqliteStore({ file, thread: false });
    onTestFinished(() => store.close());
    await store.open(context);
    return store;
  };
  return {
    path: file,
    openBeside,
    /** Another store on the file, which works on it if no other one does. */
    open: async (): Promise<Store> => {
      const store = await openBeside();
      await store.recover(T);
      return store;
    },
    /** Uses the file through a connection that has no settings of ours. */
    use: <Result>(work: (db: Database.Database) => Result): Result => {
      const db = new Database(file);
      try {
        return work(db);
      } finally {
        db.close();
      }
    },
  };
}

/** Everything in the tables of the inbox. */
const dump = (db: Database.Database): unknown[] =>
  ["inbox_event", "inbox_work", "inbox_step", "inbox_counter"].map((table) =>
    db.prepare(`SELECT * FROM ${table}`).all(),
  );

const leased = { work: [{ handler: "h", leaseUntil: T + MINUTE }] };

/** Stores events in one batch, leased for `h`; their numbers count up in this order. */
export async function acceptEach(store: Store, events: Record<string, Partial<NewEvent>>): Promise<Lease[]> {
  const results = await Promise.all(
    Object.entries(events).map(([id, change]) => store.accept(newEvent(id, { ...leased, ...change }))),
  );
  return results.flatMap((result) => (result.kind === "stored" ? result.leases : []));
}

export const settleDone = async (store: Store, leases: readonly Lease[]): Promise<void> => {
  const results = await Promise.all(leases.map((lease) => store.settle(settlements.done(lease))));
  expect(results).toEqual(leases.map(() => "settled"));
};

/** A take-over that fails at a write, by a trigger, and the next one. */
async function failAt(build: SqliteBuild, write: string): Promise<void> {
  const { open, openBeside, use } = openOn(build);
  const store = await open();
  await settleDone(store, (await acceptEach(store, { evt_1: {}, evt_2: {}, evt_3: {} })).slice(0, 1));
  await store.close();
  const before = use(dump);
  use((db) => db.exec(`CREATE TRIGGER fail BEFORE ${write} BEGIN SELECT RAISE(ABORT, 'not now'); END`));
  const failing = await openBeside();
  await expect(failing.recover(T)).rejects.toThrow(/not now/);
  await failing.close();
  expect(use(dump)).toEqual(before);
  use((db) => db.exec("DROP TRIGGER fail"));
  const next = await openBeside();
  expect(await next.recover(T)).toEqual({ owner: true, recovered: 2, parked: 0 });
  expect((await leasePage(next)).work).toMatchObject([
    { eventId: "evt_2", attempt: 2, crashes: 1 },
    { eventId: "evt_3", attempt: 2, crashes: 1 },
  ]);
}

/** What must hold when a process takes a file over. */
export const TAKE_OVERS = {
  "each take-over begins an epoch": async (build: SqliteBuild) => {
    const { open, use } = openOn(build);
    const epoch = () => use((db) => db.prepare("SELECT value FROM inbox_counter WHERE name = 'epoch'").pluck().get());
    const store = await open();
    expect(epoch()).toBe(1);
    await store.recover(T);
    expect(epoch()).toBe(1);
    await store.close();
    await open();
    expect(epoch()).toBe(2);
  },
  "a take-over that cannot write the epoch writes nothing, and the next one counts one death": (build: SqliteBuild) =>
    failAt(build, "UPDATE ON inbox_counter WHEN NEW.name = 'epoch'"),
  "a take-over that cannot write the ends of leases writes nothing, and the next one counts one death": (
    build: SqliteBuild,
  ) => failAt(build, "UPDATE ON inbox_work"),
};
