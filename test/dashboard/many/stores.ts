import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { type Store, createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET } from "pigeonhole/testing";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { startPostgres } from "../../support/postgres-server.js";

import { fillDatabase, fillFile } from "./fill.js";
import { type HoldProbe, probeFile } from "./probe-file.js";
import { probeDatabase } from "./probe-database.js";

/** A store with the example's events. */
export interface FullStore {
  store: string | Store;
  /** Measures for how long those that accept deliveries are kept waiting for a lock. */
  probe(): Promise<HoldProbe>;
  /** Of what is written beside the database until the next checkpoint; 0 where there is no such file. */
  walBytes(): Promise<number>;
  close(): Promise<void>;
}

export async function fullFile(total: number, now: number): Promise<FullStore> {
  const folder = await mkdtemp(join(tmpdir(), "pigeonhole-many-"));
  const file = join(folder, "inbox.db");
  await createTables(file);
  await fillFile(file, total, now);
  return {
    store: file,
    probe: () => probeFile(file),
    walBytes: async () => (await stat(`${file}-wal`)).size,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function fullDatabase(total: number, now: number): Promise<FullStore> {
  const server = await startPostgres({ max_wal_size: "4GB" });
  const pool = new Pool({ connectionString: server.url });
  // The server closes what is idle when it stops.
  pool.on("error", () => undefined);
  const store = createPostgresStore({ pool }) as Store<unknown> as Store;
  await createTables(createPostgresStore({ pool }) as Store<unknown> as Store);
  await fillDatabase(pool, total, now);
  return {
    store,
    probe: () => probeDatabase(server.url),
    walBytes: () => Promise.resolve(0),
    async close() {
      await pool.end();
      await server.stop();
    },
  };
}

async function createTables(store: string | Store): Promise<void> {
  const receiver = createReceiver({ secrets: TEST_SECRET, store, logger: silentLogger, telemetry: false });
  await receiver.start();
  await receiver.stop({ timeoutMs: 0 });
}
