import { BatchPacker, unpackAccepted } from "#pigeonhole/store/sqlite/batch.js";
import { createInboxDatabase } from "#pigeonhole/store/sqlite/inbox-database.js";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import type { Lease } from "#pigeonhole/store/work.js";

/** An event to accept; `leased` as for a dispatcher that has room, otherwise its work waits. */
export interface AcceptPlan {
  id: string;
  type: string;
  body: Uint8Array;
  handlers: readonly string[];
  leased: boolean;
}

/**
 * All that the benchmark says to the product's tables, in process and without a thread: a change of the layout shows
 * here alone.
 */
export interface StoreCommands {
  /** One transaction: accepts the events, settles what the one before leased. Returns the new leases. */
  run(batch: { accept: readonly AcceptPlan[]; done: readonly Lease[] }): Lease[];
  close(): void;
}

const LEASE_MS = 600_000;
/** The size of the writer thread's buffer. */
const SPARE_BYTES = 1024 * 1024;

/** Opens or makes the file, which is not durable until it is closed. */
export function openStoreCommands(file: string): StoreCommands {
  const db = openDatabase(file);
  migrate(db, file);
  db.pragma("journal_mode = MEMORY");
  db.pragma("synchronous = OFF");
  db.pragma("cache_size = -2000000");
  const inbox = createInboxDatabase(db);
  // As between the receiver and its writer thread, which gives the buffer back.
  let spare: ArrayBuffer | undefined;
  let token = 0;
  function runAll(batch: BatchPacker): unknown[] {
    const bodies = batch.joinBodies(spare ?? new ArrayBuffer(SPARE_BYTES));
    spare = bodies.buffer;
    const { results } = inbox.runBatch({ commands: batch.commands, bodies });
    return results.map((result) => {
      if (typeof result !== "object") {
        if (result === "lost") throw new Error("a lease was lost");
        return result;
      }
      if (!("ok" in result)) throw new Error("an event was known");
      if (!result.ok) throw new Error(`the store refused a command: ${result.message}`);
      return result.value;
    });
  }

  return {
    run({ accept, done }) {
      const at = Date.now();
      const batch = new BatchPacker();
      const works = accept.map(({ id, type, body, handlers, leased }) => {
        const work = handlers.map((handler) => (leased ? { handler, leaseUntil: at + LEASE_MS } : { handler }));
        batch.accept({ id, type, receivedAt: at, signedAt: at, test: false, body, work }, (token += work.length));
        return { work, token };
      });
      for (const lease of done) batch.done({ ...lease, at, dropSteps: false, to: "done" });
      const values = runAll(batch);
      return works.flatMap(({ work, token: first }, place) => {
        const seq = values[place];
        if (typeof seq !== "number") return [];
        const accepted = unpackAccepted(seq, work, first);
        return accepted.kind === "stored" ? accepted.leases : [];
      });
    },
    close() {
      db.pragma("journal_mode = WAL");
      db.close();
    },
  };
}
