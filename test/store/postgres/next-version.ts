import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import type * as pigeonhole from "pigeonhole";
import type * as postgres from "pigeonhole/postgres";
import { STORE_TABLES } from "#pigeonhole/store/sqlite/migrations.js";
import { copyPackage } from "../../simulation/package-copy.js";

/** Those that have columns which processes of this version read and write. */
const TABLES = [...STORE_TABLES, "inbox_process", "outbox_sender"];

const MIGRATION = TABLES.map((table) => `ALTER TABLE pigeonhole.${table} ADD COLUMN next text DEFAULT 'old';`).join(
  " ",
);

export type PackageVersion = Pick<typeof pigeonhole, "createReceiver"> & Pick<typeof postgres, "createPostgresStore">;

/** A later version of the package: a migration of its adds a column to each table, and it writes one of them. */
export async function loadNextVersion(): Promise<PackageVersion> {
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
  const load = async (file: string): Promise<unknown> =>
    import(/* @vite-ignore */ pathToFileURL(join(dirname(copy.entry), file)).href);
  const [main, store] = await Promise.all([load("index.js"), load("postgres.js")]);
  return { ...(main as typeof pigeonhole), ...(store as typeof postgres) };
}
