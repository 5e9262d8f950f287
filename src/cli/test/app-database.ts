import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { isPigeonholeError } from "../../base/error.js";
import { sleep } from "../../base/wait.js";
import type { InspectedHandler } from "../../capture/tests/check-work.js";
import { isConnectionString, nameOfDatabase } from "../../store/connection-string.js";
import { createTemporaryDatabase } from "../../store/create-temporary-database.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { OutboxView } from "../../store/outbox.js";
import { openInbox } from "../../store/open-inbox.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { DATABASE_VARIABLE, URL_VARIABLE, findNamedServer, presentPlaces, readPlace } from "../values/inbox-place.js";

/** The database of the app under test. */
export interface AppDatabase {
  /** The variable that names it to an app which is started. */
  readonly env: Readonly<Record<string, string>>;
  /** Rejects if the app has not opened the database, so that no event gets into another inbox. */
  checkOpened(signal: AbortSignal): Promise<void>;
  /** What the handlers made of an event; undefined for one that is not in the database. */
  inspect(eventId: string): Promise<readonly InspectedHandler[] | undefined>;
  /** The newest contact events that are not sent again automatically. */
  listDeadContactEvents(): Promise<readonly OutboxView[]>;
  /** Also removes a temporary database; the app must have ended. */
  close(): Promise<void>;
}

interface Wanted {
  /** `--inbox`. */
  inbox: string | undefined;
  /** `--start`: whether this command starts the app. */
  start: string | undefined;
}

/** The path of a receiver that listens before it has opened its database is short. */
const OPENING_MS = 5 * SECOND;
const POLL_INTERVAL_MS = 50;

/** An app that is started gets a new database. For another one, undefined if nothing names its database. */
export async function findAppDatabase(
  { inbox, start }: Wanted,
  context: CommandContext,
): Promise<AppDatabase | undefined> {
  const place = inbox === undefined ? undefined : readPlace("--inbox", inbox, context);
  if (start === undefined) {
    const present = place ?? (await findPresent(context));
    return present === undefined ? undefined : openLater(present);
  }
  if (place === undefined) return createTemporary(context);
  if (isConnectionString(place) ? await hasInbox(place) : existsSync(place)) {
    const [named, has] = isConnectionString(place) ? [nameOfDatabase(place), "has an inbox"] : [place, "exists"];
    throw usageError(
      `--inbox: ${named} ${has}. With --start it names a new database, so that the run does not write into an inbox that is in use; without --inbox a temporary one is used.`,
    );
  }
  return openLater(place);
}

/** On the server that the app's variable names, or a file. */
async function createTemporary(context: CommandContext): Promise<AppDatabase> {
  const server = findNamedServer(context);
  if (server !== undefined) {
    const database = await createTemporaryDatabase(server);
    return openLater(database.place, () => database.drop());
  }
  const folder = await mkdtemp(join(tmpdir(), "pigeonhole-test-"));
  return openLater(join(folder, "inbox.db"), () => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
}

/** A file counts as it is; the database of a URL may be for the app's own tables alone. */
async function findPresent(context: CommandContext): Promise<string | undefined> {
  for (const place of presentPlaces(context)) {
    if (!isConnectionString(place) || (await hasInbox(place))) return place;
  }
  return undefined;
}

async function hasInbox(place: string): Promise<boolean> {
  try {
    await (await openInbox(place)).close();
    return true;
  } catch (error) {
    if (isPigeonholeError(error, "invalid_argument")) return false;
    throw error;
  }
}

/** Opened at the first read, since the app creates the tables. */
function openLater(place: string, remove?: () => Promise<void>): AppDatabase {
  let opened: Promise<InboxOperator> | undefined;
  const variable = isConnectionString(place) ? URL_VARIABLE : DATABASE_VARIABLE;
  const isThere = async (): Promise<boolean> => (isConnectionString(place) ? hasInbox(place) : existsSync(place));
  return {
    env: { [variable]: place },
    async checkOpened(signal) {
      const deadline = Date.now() + OPENING_MS;
      while (!(await isThere())) {
        if (Date.now() > deadline) throw usageError(notOpened(variable));
        await sleep(waitingClock, POLL_INTERVAL_MS, signal);
      }
    },
    async inspect(eventId) {
      opened ??= openInbox(place);
      return (await (await opened).getEvent(eventId))?.handlers;
    },
    async listDeadContactEvents() {
      const inbox = await opened;
      return inbox === undefined ? [] : (await inbox.listContactEvents({ state: "dead" })).items;
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close();
      await remove?.();
    },
  };
}

const notOpened = (variable: string): string =>
  `The app did not open the database that --start gave it as ${variable}, so nothing was sent: the events would get into another inbox. Let the app read the variable, such as store: process.env.${DATABASE_VARIABLE}, or pass it on under another name: --start 'INBOX_FILE="$${DATABASE_VARIABLE}" npm start'. If it gets the wrong one of ${DATABASE_VARIABLE} and ${URL_VARIABLE}, set the other in .env. For an app without a receiver's database, give --answers-only.`;
