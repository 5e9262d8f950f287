import type { CopiedContactEvent, CopiedEvent, CopiedOthers } from "../copied-rows.js";
import type { HandlerPolicy } from "../store.js";
import { isOwned } from "./file-ownership.js";
import { openOutsideConnection } from "./open-outside-connection.js";
import { idsKnownSince } from "../queries/known-ids.js";
import { runInFile } from "./run-in-file.js";
import {
  type CopyPage,
  prepareReadContactEvents,
  prepareReadEvents,
  prepareReadOthers,
  prepareReadPolicies,
} from "./operations/read-copy.js";
import { runBeside, tryWhileBusy } from "./run-beside.js";

/** A file whose inbox is copied into another database, a page at a time. */
export interface InboxToCopy {
  /** True while a receiver runs handlers on the file. */
  hasReceiver(): boolean;
  events(after: number): Promise<CopyPage<CopiedEvent>>;
  others(): Promise<CopiedOthers>;
  contactEvents(after: number): Promise<CopyPage<CopiedContactEvent>>;
  policies(): Promise<HandlerPolicy[]>;
  idsKnownSince(): Promise<number | undefined>;
  close(): void;
}

/** Opens a file to read all that its inbox has; it is not changed. Rejects as `openInboxFile` does. */
export async function openInboxToCopy(file: string): Promise<InboxToCopy> {
  const connection = await tryWhileBusy(() => openOutsideConnection(file));
  const { db } = connection;
  const [events, others] = [prepareReadEvents(db), prepareReadOthers(db)];
  const [contactEvents, policies] = [prepareReadContactEvents(db), prepareReadPolicies(db)];
  return {
    hasReceiver: () => isOwned(file),
    events: (after) => runBeside(db, "deferred", () => events(after)),
    others: () => runBeside(db, "deferred", others),
    contactEvents: (after) => runBeside(db, "deferred", () => contactEvents(after)),
    policies: () => runBeside(db, "deferred", policies),
    idsKnownSince: () => runBeside(db, "deferred", () => runInFile(db, idsKnownSince())),
    close: () => connection.close(),
  };
}
