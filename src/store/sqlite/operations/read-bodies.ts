import type { Database } from "better-sqlite3";

/** Reads the bodies of events by their ids, but none that is larger than a limit. */
export function prepareReadBodies(db: Database) {
  const select = db
    .prepare<{ id: string; maxBytes: number }, Uint8Array>(`
    SELECT b.body FROM inbox_event AS e JOIN inbox_body AS b ON b.seq = e.seq
    WHERE e.id = :id AND length(b.body) <= :maxBytes`)
    .pluck();
  return ({ ids, maxBytes }: { ids: readonly string[]; maxBytes: number }): Map<string, Uint8Array> => {
    const bodies = ids.map((id) => [id, select.get({ id, maxBytes })] as const);
    return new Map(bodies.flatMap(([id, body]) => (body === undefined ? [] : [[id, body]])));
  };
}
