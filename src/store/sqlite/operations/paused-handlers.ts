import type { Database } from "better-sqlite3";
import type { PausedHandler } from "../../paused-handlers.js";

/** The paused handlers, in the order of their names. */
export function prepareListPaused(db: Database): () => PausedHandler[] {
  const select = db.prepare<[], PausedHandler>(
    "SELECT handler, since, paused_by AS by FROM inbox_paused ORDER BY handler",
  );
  return () => select.all();
}

/** False when the handler was paused already. */
export function preparePauseHandler(db: Database): (paused: PausedHandler) => boolean {
  const insert = db.prepare<PausedHandler>(`
    INSERT INTO inbox_paused (handler, since, paused_by) VALUES (:handler, :since, :by) ON CONFLICT DO NOTHING`);
  return (paused) => insert.run(paused).changes === 1;
}

/** False when the handler was not paused. */
export function prepareResumeHandler(db: Database): (handler: string) => boolean {
  const remove = db.prepare<[string]>("DELETE FROM inbox_paused WHERE handler = ?");
  return (handler) => remove.run(handler).changes === 1;
}
