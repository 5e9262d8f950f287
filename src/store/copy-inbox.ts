import { PigeonholeError } from "../base/error.js";
import { loadWithDriver } from "./postgres/load-with-driver.js";
import type { CopyTarget } from "./postgres/open-copy-target.js";
import { type InboxToCopy, openInboxToCopy, type CopiedPage } from "./sqlite/open-inbox-to-copy.js";

/** From where to where. */
export interface CopyRequest {
  /** Path of the file. */
  from: string;
  /** Where the PostgreSQL is, as `openInbox` takes it. */
  to: string;
  /** Ends the copy after the page under way. */
  signal: AbortSignal;
}

/** How many rows were copied, and how many were there already. */
export interface CopyCounts {
  events: number;
  eventsThere: number;
  contactEvents: number;
  contactEventsThere: number;
}

/** What was copied, and the name of the database that has it now. */
export interface CopyReport extends CopyCounts {
  database: string;
}

/**
 * Copies all that a file's inbox and outbox have into a PostgreSQL, a page in a transaction at a time; the file is not
 * changed. What is there already stays as it is, so that an interrupted copy can be repeated. Rejects with
 * `invalid_argument` while a receiver has either of them open: what it handles meanwhile would be handled twice.
 */
export async function copyInbox({ from, to, signal }: CopyRequest): Promise<CopyReport> {
  const { openCopyTarget } = await loadWithDriver(() => import("./postgres/open-copy-target.js"));
  const source = await openInboxToCopy(from);
  try {
    if (source.hasReceiver()) throw inUse(from);
    const target = await openCopyTarget(to);
    try {
      if (await target.hasReceiver()) throw inUse(target.database);
      const [events, eventsThere] = await copyEach(
        (after) => source.events(after),
        (page) => target.copyEvents(page),
        signal,
      );
      await copyRest(source, target);
      const [contactEvents, contactEventsThere] = await copyEach(
        (after) => source.contactEvents(after),
        (page) => target.copyContactEvents(page),
        signal,
      );
      return { database: target.database, events, eventsThere, contactEvents, contactEventsThere };
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

async function copyRest(source: InboxToCopy, target: CopyTarget): Promise<void> {
  await target.copyPolicies(await source.policies());
  const since = await source.idsKnownSince();
  if (since !== undefined) await target.copyIdsKnownSince(since);
}

/** Copies all pages; returns how many rows were new, and how many were there. */
async function copyEach(
  readPage: (after: number) => Promise<CopiedPage>,
  copyPage: (page: CopiedPage) => Promise<number>,
  signal: AbortSignal,
): Promise<[copied: number, there: number]> {
  let [copied, there] = [0, 0];
  for (let after: number | undefined = 0; after !== undefined;) {
    signal.throwIfAborted();
    const page = await readPage(after);
    const news = page.rows.length === 0 ? 0 : await copyPage(page);
    copied += news;
    there += page.rows.length - news;
    after = page.after;
  }
  return [copied, there];
}

function inUse(database: string): PigeonholeError {
  return new PigeonholeError(
    "invalid_argument",
    `A receiver has ${database} open. Stop it first: the service sends again what it cannot deliver meanwhile.`,
  );
}
