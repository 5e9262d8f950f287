import { silentLogger } from "../../base/logger.js";
import type { CopiedOthers, CopiedPage } from "../copied-page.js";
import { readDatabasePlace } from "../connection-string.js";
import type { HandlerPolicy } from "../store.js";
import { hasOpenStore, lockClassOf } from "./advisory-lock.js";
import { openBesideReceivers } from "./open-beside-receivers.js";
import { copyContactEvents, copyEvents, copyOthers } from "./operations/copy-rows.js";
import { writePolicies } from "../queries/handlers.js";
import { noteRemoval } from "../queries/known-ids.js";
import { runOnServer } from "./run-on-server.js";
import { createPostgresStore } from "./postgres-store.js";

/** A database that gets the inbox of another; each call is one transaction, and what is there stays as it is. */
export interface CopyTarget {
  /** Server and database without the password. */
  readonly database: string;
  /** True while a receiver has the database open. */
  hasReceiver(): Promise<boolean>;
  /** Returns how many were new. */
  copyEvents(page: CopiedPage): Promise<number>;
  copyOthers(others: CopiedOthers): Promise<void>;
  /** Returns how many were new. */
  copyContactEvents(page: CopiedPage): Promise<number>;
  copyPolicies(policies: readonly HandlerPolicy[]): Promise<void>;
  /** Notes since when the copied inbox has all ids. */
  copyIdsKnownSince(since: number): Promise<void>;
  close(): Promise<void>;
}

/** Makes the tables if they are missing. Rejects as the store does when it is opened. */
export async function openCopyTarget(place: string): Promise<CopyTarget> {
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
    copyEvents: (page) => write("copying events", (sql, now) => copyEvents(sql, page, now)),
    copyOthers: (others) => write("copying events", (sql) => copyOthers(sql, others)),
    copyContactEvents: (page) => write("copying contact events", (sql, now) => copyContactEvents(sql, page, now)),
    copyPolicies: (policies) => write("copying retry policies", (sql) => runOnServer(sql, writePolicies(policies))),
    copyIdsKnownSince: (since) => write("copying times", (sql) => runOnServer(sql, noteRemoval(since))),
    close,
  };
}
