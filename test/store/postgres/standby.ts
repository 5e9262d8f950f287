import { Client } from "pg";
import { expect, onTestFinished } from "vitest";
import type * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import { startPostgres } from "../../support/postgres-server.js";
import { context, newEvent } from "../conformance/new-event.js";
import { statesOf } from "../conformance/lease-page.js";

/** A store on a server of its own, also where the tests are given one, whose standbys can be named. */
export async function openWithStandby(kit: Pick<typeof postgres, "createPostgresStore">) {
  const server = await startPostgres({ log_min_messages: "error" });
  onTestFinished(() => server.stop());
  const store = kit.createPostgresStore({ connectionString: server.url });
  onTestFinished(() => store.close());
  await store.open(context);
  const client = new Client({ connectionString: server.url });
  onTestFinished(() => client.end());
  await client.connect();
  const setStandby = async (name: string): Promise<void> => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await client.query("SELECT pg_reload_conf()");
    await expect
      .poll(async () => (await client.query("SHOW synchronous_standby_names")).rows[0])
      .toEqual({ synchronous_standby_names: name });
    // Commits wait once the process that makes checkpoints has read the change too, which it does before the next one.
    await client.query("CHECKPOINT");
  };
  return { store, client, setStandby };
}

/** Stores an event that the standby, which is away, does not get, and that is visible all the same. */
export async function storeWithoutStandby(store: postgres.PostgresStore, client: Client, id: string): Promise<void> {
  await expect(store.accept(newEvent(id))).rejects.toMatchObject({ code: "store_unreachable" });
  // The connection that waits is cut, as a restart of the primary would.
  await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  await expect.poll(() => statesOf(store, id)).toEqual({ h: "pending" });
}
