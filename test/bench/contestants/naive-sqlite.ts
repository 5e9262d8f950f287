import { createServer } from "node:http";
import Database from "better-sqlite3";
import { Stripe } from "stripe";
import { SECRET } from "../sample-delivery.js";
import type { ContestantContext, RunningContestant } from "./contestant.js";
import { createHookApp } from "./express-floor.js";

/** What one writes by hand: verify, insert in one transaction, answer, mark done in another. As durable as ours. */
export function startNaiveSqlite(context: ContestantContext): RunningContestant {
  const database = new Database(context.databaseFile);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(
    "CREATE TABLE event (id TEXT PRIMARY KEY, received_at INTEGER NOT NULL, body BLOB NOT NULL, done_at INTEGER)",
  );
  const insert = database.prepare(
    "INSERT INTO event (id, received_at, body) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
  );
  const markDone = database.prepare("UPDATE event SET done_at = ? WHERE id = ?");
  let handled = 0;
  const app = createHookApp((body, request) => {
    const { id } = Stripe.webhooks.constructEvent(body, request.get("x-svc-signature") ?? "", SECRET);
    insert.run(id, Date.now(), body);
    setImmediate(() => {
      markDone.run(Date.now(), id);
      handled += 1;
    });
  });
  return {
    server: createServer(app),
    countHandled: () => handled,
    stop() {
      database.close();
    },
  };
}
