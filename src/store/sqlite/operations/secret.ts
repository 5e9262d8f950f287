import { randomBytes } from "node:crypto";
import type { Database } from "better-sqlite3";
import { DASHBOARD_SECRET, SECRET_BYTES } from "../../dashboard-secret.js";

/** Reads a secret; in a transaction that writes, since it is made if there is none. */
export function prepareDashboardSecret(db: Database): () => Uint8Array {
  const insert = db.prepare<[string, Uint8Array]>(
    "INSERT INTO inbox_secret (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
  );
  const select = db.prepare<[string], Uint8Array>("SELECT value FROM inbox_secret WHERE name = ?").pluck();
  return () => {
    const known = select.get(DASHBOARD_SECRET);
    if (known !== undefined) return known;
    const made = randomBytes(SECRET_BYTES);
    insert.run(DASHBOARD_SECRET, made);
    return made;
  };
}
