import { silentLogger } from "../../base/logger.js";
import type { CopiedPage } from "../copied-page.js";
import { readDatabasePlace } from "../connection-string.js";
import type { HandlerPolicy } from "../store.js";
import { hasOpenStore, lockClassOf } from "./advisory-lock.js";
import { openBesideReceivers } from "./open-beside-receivers.js";
import { copyContactEvents, copyEvents } from "./operations/copy-rows.js";
import { writePolicies } from "../queries/handlers.js";
import { noteRemoval } from "../queries/known-ids.js";
import { runOnServer } from "./run-on-server.js";
import { createPostgresStore } from "./postgres-store.js";

/** A database that gets the inbox of another. */
export type CopyTarget = Awaited<ReturnType<typeof openCopyTarget>>;

/**
 * Makes the tables if they are missing. Each call is one transaction, and what is there stays as it is; those with
 * pages return how many rows were new. Rejects as the store does when it is opened.
 */
export async function openCopyTarget(place: string) {
  const { connectionString, schema } = readDatabasePlace(place);
  const store = createPostgresStore({ connectionString, schema });
  try {
    await store.open({ logger: silentLogger, runsHandlers: false });
  } finally {
    await store.close();
  }
  const { database, beside, close } = await openBesideReceivers(place);
  const { read, write } = beside;
  return {
    database,
    hasReceiver: () => read("looking for receivers", (sql) => hasOpenStore(sql, lockClassOf(schema))),
    copyEvents: (page: CopiedPage) => write("copying events", (sql, now) => copyEvents(sql, page, now)),
    copyContactEvents: (page: CopiedPage) =>
      write("copying contact events", (sql, now) => copyContactEvents(sql, page, now)),
    copyPolicies: (policies: readonly HandlerPolicy[]) =>
      write("copying retry policies", (sql) => runOnServer(sql, writePolicies(policies))),
    copyIdsKnownSince: (since: number) => write("copying times", (sql) => runOnServer(sql, noteRemoval(since))),
    close,
  };
}
