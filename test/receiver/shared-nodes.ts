import { type Receiver, type ReceiverOptions, createReceiver } from "pigeonhole";
import { type PostgresTransaction, createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET } from "pigeonhole/testing";
import type { Pool } from "pg";
import { expect, onTestFinished } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import type { TestDatabase } from "../support/postgres-server.js";
import { type TestEvent, closeReceiver, post } from "../support/receiver.js";

/** A receiver on the database, stopped after the test. */
export type Node = Receiver<Record<never, never>, PostgresTransaction>;

export type NodeOptions = Partial<Omit<ReceiverOptions<Record<never, never>, PostgresTransaction>, "store">> & {
  /** @default a pool of its own */
  pool?: Pool;
};

/** One of several receivers on the same data, not started. */
export function createNode(
  { url, schema }: Pick<TestDatabase, "url" | "schema">,
  { pool, ...options }: NodeOptions = {},
): Node {
  const receiver = createReceiver({
    secrets: TEST_SECRET,
    store: createPostgresStore({ schema, ...(pool === undefined ? { connectionString: url } : { pool }) }),
    logger: silentLogger,
    telemetry: false,
    ...options,
  });
  onTestFinished(() => closeReceiver(receiver, options.clock));
  return receiver;
}

/** Posts to the receivers in turn, and resolves with the statuses. */
export async function postInTurn(receivers: readonly Node[], events: readonly TestEvent[]): Promise<number[]> {
  const answers = events.map((event, index) =>
    post(receivers[index % receivers.length] ?? expect.unreachable(), event),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

/** Drops the tables of the store after the test, when its receivers are stopped. */
export function dropAfterTest({ pool, schema }: Pick<TestDatabase, "pool" | "schema">): void {
  onTestFinished(async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)));
}
