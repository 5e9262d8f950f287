import { type Receiver, createReceiver } from "pigeonhole";
import { TEST_SECRET } from "pigeonhole/testing";
import { onTestFinished } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { type PostgresTransaction } from "#pigeonhole/store/postgres/postgres-transaction.js";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import type { TestDatabase } from "../support/postgres-server.js";
import { closeReceiver } from "../support/receiver.js";

/** A receiver on the database whose pool is its own, stopped after the test. */
export type Node = Receiver<Record<never, never>, PostgresTransaction>;

export interface NodeOptions {
  concurrency?: number;
  role?: "accept" | "work" | "both";
  baseUrl?: string;
  eventsPerMinute?: number;
}

/** One of several receivers on the same data, not started. */
export function createNode({ url, schema }: Pick<TestDatabase, "url" | "schema">, options: NodeOptions = {}): Node {
  const { baseUrl, eventsPerMinute = 600_000, ...rest } = options;
  const receiver = createReceiver({
    secrets: TEST_SECRET,
    store: createPostgresStore({ connectionString: url, schema }),
    logger: silentLogger,
    telemetry: false,
    ...rest,
    ...(baseUrl !== undefined && { api: { apiKey: "svc_test", baseUrl, eventsPerMinute } }),
  });
  onTestFinished(() => closeReceiver(receiver));
  return receiver;
}

/** Drops the tables of the store after the test, when its receivers are stopped. */
export function dropAfterTest({ pool, schema }: Pick<TestDatabase, "pool" | "schema">): void {
  onTestFinished(async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)));
}
