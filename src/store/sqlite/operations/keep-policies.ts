import type { Database } from "better-sqlite3";
import type { HandlerPolicy } from "../../store.js";

/** Keeps policies. SQLite writes no page for one that stays the same, so that most starts write nothing. */
export function prepareKeepPolicies(db: Database) {
  const keep = db.prepare<HandlerPolicy>(`
    INSERT INTO inbox_handler (handler, max_attempts) VALUES (:handler, :maxAttempts)
    ON CONFLICT (handler) DO UPDATE SET max_attempts = excluded.max_attempts`);
  return (policies: readonly HandlerPolicy[]): void => {
    for (const { handler, maxAttempts } of policies) keep.run({ handler, maxAttempts });
  };
}
