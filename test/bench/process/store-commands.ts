import { createInboxDatabase, type Command } from "#pigeonhole/store/sqlite/inbox-database.js";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import type { Lease } from "#pigeonhole/store/work.js";
import type { AcceptResult, LeasePage } from "#pigeonhole/store/store.js";

/** An event to accept; `leased` as for a dispatcher that has room, otherwise its work waits. */
export interface AcceptPlan {
  id: string;
  type: string;
  body: Uint8Array;
  handlers: readonly string[];
  leased: boolean;
}

/** All that the benchmark says to the product's tables, in process and without a thread: a change of the layout shows here alone. */
export interface StoreCommands {
  /** One durable transaction: accepts the events, settles what the one before leased. Returns the new leases. */
  run(batch: { accept: readonly AcceptPlan[]; done: readonly Lease[]; failed: readonly Lease[] }): Lease[];
  /** Leases work of the handler that is due. */
  lease(handler: string, limit: number): Lease[];
  close(): void;
}

const LEASE_MS = 600_000;

/** Opens or makes the file. `fast` gives up durability, for preparing large files. */
export function openStoreCommands(file: string, { fast }: { fast: boolean }): StoreCommands {
  const db = openDatabase(file);
  migrate(db, file);
  if (fast) {
    db.pragma("journal_mode = MEMORY");
    db.pragma("synchronous = OFF");
    db.pragma("cache_size = -2000000");
  }
  const inbox = createInboxDatabase(db);
  // As a receiver does when it starts: what comes in leased has a row until then.
  inbox.runBatch(
    [{ op: "recover", input: { now: Date.now(), everything: false, takeOver: true, epoch: undefined } }],
    [],
  );

  function runAll(commands: readonly Command[]): unknown[] {
    return inbox.runBatch(commands, []).map((result) => {
      if (!result.ok) throw new Error(`the store refused a command: ${result.message}`);
      if (result.value === "lost") throw new Error("a lease was lost");
      return result.value;
    });
  }

  return {
    run({ accept, done, failed }) {
      const at = Date.now();
      const commands = accept.map(({ id, type, body, handlers, leased }): Command => {
        const work = handlers.map((handler) => (leased ? { handler, leaseUntil: at + LEASE_MS } : { handler }));
        return { op: "accept", input: { id, type, receivedAt: at, signedAt: at, test: false, body, work } };
      });
      for (const lease of done) {
        commands.push({ op: "settle", input: { ...lease, at, dropSteps: false, to: "done" } });
      }
      for (const lease of failed) {
        commands.push({
          op: "settle",
          input: { ...lease, at, dropSteps: false, to: "pending", dueAt: at, error: "failed" },
        });
      }
      const results = runAll(commands).slice(0, accept.length) as AcceptResult[];
      return results.flatMap((result) => (result.kind === "stored" ? result.leases : []));
    },
    lease(handler, limit) {
      const now = Date.now();
      const [page] = runAll([
        {
          op: "lease",
          input: {
            handler,
            now,
            leaseUntil: now + LEASE_MS,
            limit,
            maxBytes: 2 ** 30,
            suspectLimit: 1,
            allowRepeated: true,
          },
        },
      ]) as LeasePage[];
      return (page?.work ?? []).map(({ seq, handler, token }) => ({ seq, handler, token }));
    },
    close() {
      if (fast) db.pragma("journal_mode = WAL");
      db.close();
    },
  };
}
