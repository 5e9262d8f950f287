import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import type * as postgres from "pigeonhole/postgres";
import { STORE_TABLES } from "#pigeonhole/store/sqlite/migrations.js";
import { copyPackage } from "../../simulation/package-copy.js";

/** Those that have columns which processes of this version read and write. */
const TABLES = [...STORE_TABLES, "inbox_process", "outbox_sender"];

const MIGRATION = TABLES.map((table) => `ALTER TABLE pigeonhole.${table} ADD COLUMN next text DEFAULT 'old';`).join(
  " ",
);

/** A later version of the package: a migration of its adds a column to each table, and it writes one of them. */
export async function loadNextVersion(): Promise<typeof postgres> {
  const columns = "(seq, id, type, test, received_at, signed_at, body_length, body_crc";
  const values = "SELECT seq, id, type, test, received_at, signed_at, body_length, body_crc";
  const accept = "store/postgres/operations/store-events.js";
  const copy = copyPackage({
    name: "is the next version",
    changes: [
      { file: "store/postgres/migrations.js", from: "`,\n];", to: `\`,\n  "${MIGRATION}",\n];` },
      { file: accept, from: `${columns})`, to: `${columns}, next)` },
      { file: accept, from: `${values} FROM given`, to: `${values}, 'new' FROM given` },
    ],
  });
  onTestFinished(copy.remove);
  const next: unknown = await import(/* @vite-ignore */ pathToFileURL(join(dirname(copy.entry), "postgres.js")).href);
  return next as typeof postgres;
}
