import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { createInboxDatabase } from "#pigeonhole/store/sqlite/inbox-database.js";
import type { openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import type { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { NewEvent, Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import Database from "better-sqlite3";
import { expect } from "vitest";
import { context, MINUTE, newEvent, T } from "../conformance/new-event.js";

/** The parts of one build of the package that write the SQLite file. */
export interface LayoutKit {
  createSqliteStore: typeof createSqliteStore;
  createInboxDatabase: typeof createInboxDatabase;
  openDatabase: typeof openDatabase;
}

/** Loads them from a folder of built code. */
export async function loadLayoutKit(dist: string): Promise<LayoutKit> {
  const load = (file: string): Promise<unknown> =>
    import(/* @vite-ignore */ pathToFileURL(join(dist, "store/sqlite", file)).href);
  const parts = await Promise.all(["sqlite-store.js", "inbox-database.js", "open-database.js"].map(load));
  return Object.assign({}, ...parts) as LayoutKit;
}

/** A database file in a folder of its own, and the stores that a scenario opens on it. */
export class Scene {
  readonly #kit: LayoutKit;
  readonly #folder: string;
  readonly file: string;
  readonly #stores: Store[] = [];
  readonly #connections: Database.Database[] = [];

  constructor(kit: LayoutKit) {
    this.#kit = kit;
    this.#folder = mkdtempSync(join(tmpdir(), "pigeonhole-layout-"));
    this.file = join(this.#folder, "inbox.db");
  }

  /** Another store on the file, which works on it if no other one does. */
  async open({ now = T, kit = this.#kit } = {}): Promise<Store> {
    const store = await this.openBeside(kit);
    await store.recover(now);
    return store;
  }

  /** A store that only accepts. */
  async openBeside(kit = this.#kit): Promise<Store> {
    const store = kit.createSqliteStore({ file: this.file, thread: false });
    this.#stores.push(store);
    await store.open(context);
    return store;
  }

  /** Ends the store as the death of its process does, and goes on with the next one. */
  async reopen(store: Store, { now = T } = {}): Promise<Store> {
    await store.close();
    return this.open({ now });
  }

  /** Another process takes the file over although the store lives, as when its lock was lost. */
  takeOver(now = T): void {
    const db = this.#kit.openDatabase(this.file);
    this.#connections.push(db);
    const input = { now, everything: true, takeOver: true, epoch: undefined };
    const commands = [{ op: "recover" as const, input }];
    const batch = { commands, bodies: new Uint8Array(0) };
    expect(this.#kit.createInboxDatabase(db).runBatch(batch).results).toMatchObject([{ ok: true }]);
  }

  /** Looks into the file with a connection that has no settings of ours. */
  look<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[] {
    return this.#connect((db) => db.prepare<unknown[], Row>(sql).all(...values));
  }

  /** Changes the file by hand. */
  change(sql: string): void {
    this.#connect((db) => db.exec(sql));
  }

  /** Copies the file as it is; `restore` writes the copy into it, as sqlite3's .restore does. */
  async save(): Promise<{ restore: () => Promise<void> }> {
    const copy = join(this.#folder, "copy.db");
    await this.#copy(this.file, copy);
    return { restore: () => this.#copy(copy, this.file) };
  }

  /** The work that is not done. */
  rows(): { seq: number; handler: string; state: string; started: number; finished: number }[] {
    return this.look(
      "SELECT seq, handler, state, started, finished FROM inbox_work WHERE state <> 'done' ORDER BY seq, handler",
    );
  }

  /** The numbers of the events that are done for the handler. */
  done(handler: string): number[] {
    const sql = "SELECT seq FROM inbox_work WHERE handler = ? AND state = 'done' ORDER BY seq";
    return this.look<{ seq: number }>(sql, handler).map(({ seq }) => seq);
  }

  epoch(): number | undefined {
    return this.look<{ value: number }>("SELECT value FROM inbox_counter WHERE name = 'epoch'")[0]?.value;
  }

  /** Everything in the tables of the inbox. */
  dump(): unknown {
    const tables = ["inbox_event", "inbox_work", "inbox_step", "inbox_counter"];
    return Object.fromEntries(tables.map((table) => [table, this.look(`SELECT * FROM ${table}`)]));
  }

  async dispose(): Promise<void> {
    for (const store of this.#stores) await store.close();
    for (const db of this.#connections) db.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #copy(from: string, to: string): Promise<void> {
    const db = new Database(from);
    await db.backup(to).finally(() => db.close());
  }

  #connect<Result>(use: (db: Database.Database) => Result): Result {
    const db = new Database(this.file);
    try {
      return use(db);
    } finally {
      db.close();
    }
  }
}

/** Work that comes in leased. */
export const leasedFor = (...handlers: string[]): Pick<NewEvent, "work"> => ({
  work: handlers.map((handler) => ({ handler, leaseUntil: T + MINUTE })),
});

/** Stores events in one batch; their numbers count up in this order. Gives the leases that came with them. */
export async function accept(store: Store, events: Record<string, Partial<NewEvent>>): Promise<Lease[]> {
  const results = await Promise.all(
    Object.entries(events).map(([id, change]) => store.accept(newEvent(id, { ...leasedFor("h"), ...change }))),
  );
  return results.flatMap((result) => (result.kind === "stored" ? result.leases : []));
}

/** Stores `count` events for handler `h`, leased, named after their numbers from `from` on. */
export function acceptMany(store: Store, count: number, from = 1): Promise<Lease[]> {
  return accept(store, Object.fromEntries(Array.from({ length: count }, (_, place) => [`evt_${from + place}`, {}])));
}
