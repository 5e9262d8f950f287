import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SECOND } from "../../base/duration.js";
import type { InspectedHandler } from "../../capture/tests/check-work.js";
import type { InspectedContactEvent, ListContactEvents } from "../../capture/tests/recorded-contact-events.js";
import { isConnectionString } from "../../store/connection-string.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { OutboxView } from "../../store/outbox.js";
import { openInbox, createTemporaryDatabase } from "../../store/open-inbox.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { wait } from "../frame/interruption.js";
import type { ParsedOptions } from "../frame/spec.js";
import type { test } from "./spec.js";
import { findInbox, hasInbox, allRows } from "../values/find-inbox.js";
import { DATABASE_VARIABLE, URL_VARIABLE, findNamedServer, readPlace } from "../values/inbox-place.js";

/** The database of the app under test. */
export interface AppDatabase {
  /** The variables that name it to an app which is started; the app opens one of them. */
  readonly env: Readonly<Record<string, string>>;
  /** Rejects if the app has not opened the database, so that no event gets into another inbox. */
  checkOpened(signal: AbortSignal): Promise<void>;
  /** What the handlers made of an event; undefined for one that is not in the database. */
  inspect(eventId: string): Promise<readonly InspectedHandler[] | undefined>;
  /** The contact events that were recorded after one. */
  listContactEvents: ListContactEvents;
  /** Also removes a temporary database; the app must have ended. */
  close(): Promise<void>;
}

/** The path of a receiver that listens before it has opened its database is short. */
const OPENING_MS = 5 * SECOND;
const POLL_INTERVAL_MS = 50;

/** An app that is started gets a new database. For another one, undefined if nothing has to be read, or to be found. */
export async function findAppDatabase(
  { inbox, start, answersOnly }: ParsedOptions<typeof test>,
  context: CommandContext,
): Promise<AppDatabase | undefined> {
  if (start !== undefined) {
    if (inbox === undefined)
      return createTemporary(answersOnly ? await findServerInUse(context) : findNamedServer(context));
    throw usageError(
      "--inbox: with --start the app gets a temporary database, so that the run does not write into an inbox that is in use. Leave out one of them.",
    );
  }
  if (answersOnly) return undefined;
  const present = inbox === undefined ? await findPresent(context) : readPlace("--inbox", inbox, context).at;
  return present === undefined ? undefined : openLater([present]);
}

/**
 * The app's server, if it has an inbox there, into which the run must not write. Without one the app keeps its own
 * tables; and a server that is not there takes no event either.
 */
async function findServerInUse(context: CommandContext): Promise<string | undefined> {
  const server = findNamedServer(context);
  if (server === undefined) return undefined;
  return (await hasInbox(server).catch(() => false)) ? server : undefined;
}

/**
 * A file, and a database on the server that the app's variable names: that variable may be for the app's own tables
 * alone, and a receiver that then reads the other one would open the inbox in its default file.
 */
async function createTemporary(server: string | undefined): Promise<AppDatabase> {
  const database = server === undefined ? undefined : await createTemporaryDatabase(server);
  const folder = await mkdtemp(join(tmpdir(), "pigeonhole-test-"));
  const file = join(folder, "inbox.db");
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  if (database === undefined) return openLater([file], removeFolder);
  return openLater([file, database.place], () => closeEach([removeFolder, () => database.drop()]));
}

async function findPresent(context: CommandContext): Promise<string | undefined> {
  const found = await findInbox(context);
  switch (found.kind) {
    case "open":
      await found.inbox.close();
      return found.place.at;
    case "unusable":
      throw found.error;
    case "without_inbox":
    case "absent":
      return undefined;
  }
}

/** Opened at the first read, since the app creates the tables; of several places the one that the app has opened. */
function openLater(places: readonly [string, ...string[]], remove?: () => Promise<void>): AppDatabase {
  let opened: Promise<InboxOperator> | undefined;
  const env = Object.fromEntries(
    places.map((place) => [isConnectionString(place) ? URL_VARIABLE : DATABASE_VARIABLE, place]),
  );
  const open = async (): Promise<InboxOperator> => openInbox((await findOpened(places)) ?? places[0]);
  return {
    env,
    async checkOpened(signal) {
      const deadline = Date.now() + OPENING_MS;
      while ((await findOpened(places)) === undefined) {
        if (Date.now() > deadline) throw usageError(notOpened(Object.keys(env).join(" and ")));
        await wait(POLL_INTERVAL_MS, signal);
      }
    },
    async inspect(eventId) {
      opened ??= open();
      return (await (await opened).getEvent(eventId))?.handlers;
    },
    async listContactEvents(afterSeq) {
      opened ??= open();
      return listAfter(await opened, afterSeq);
    },
    async close() {
      const inbox = await opened?.catch(() => undefined);
      await closeEach([async () => inbox?.close(), async () => remove?.()]);
    },
  };
}

async function listAfter(inbox: InboxOperator, afterSeq: number): Promise<InspectedContactEvent[]> {
  const found: InspectedContactEvent[] = [];
  for await (const row of allRows(Number.MAX_SAFE_INTEGER, (page) => inbox.listContactEvents(page))) {
    if (row.seq <= afterSeq) break;
    found.unshift(inspected(row));
  }
  return found;
}

function inspected({ seq, name, state, attempts, code, reason, message }: OutboxView): InspectedContactEvent {
  return { seq, name, state, attempts, reason: code ?? reason ?? undefined, message: message ?? undefined };
}

async function findOpened(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) {
    if (isConnectionString(place) ? await hasInbox(place) : existsSync(place)) return place;
  }
  return undefined;
}

const notOpened = (variable: string): string =>
  `The app did not open the database that --start gave it as ${variable}, so nothing was sent: the events would get into another inbox. Let the app read the variable, such as store: process.env.${DATABASE_VARIABLE}, or pass it on under another name: --start 'INBOX_FILE="$${DATABASE_VARIABLE}" npm start'. If it gets the wrong one of ${DATABASE_VARIABLE} and ${URL_VARIABLE}, set the other in .env. For an app without a receiver's database, give --answers-only.`;

/** Closes one after the other, each also when another fails. Rejects with the first error. */
export async function closeEach(closers: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closers) await close().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
