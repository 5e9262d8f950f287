import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { sleep } from "../../base/wait.js";
import type { InspectedHandler } from "../../capture/tests/check-work.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { openInbox } from "../../store/open-inbox.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { DATABASE_VARIABLE, presentInboxFile } from "../values/inbox-file.js";

/** The database of the app under test. */
export interface AppDatabase {
  readonly file: string;
  /** Rejects if the app has not opened the database, so that no event gets into another inbox. */
  checkOpened(signal: AbortSignal): Promise<void>;
  /** What the handlers made of an event; undefined for one that is not in the database. */
  inspect(eventId: string): Promise<readonly InspectedHandler[] | undefined>;
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
  if (start === undefined) {
    const file = inbox === undefined ? presentInboxFile(context) : resolve(context.cwd, inbox);
    return file === undefined ? undefined : openLater(file);
  }
  if (inbox === undefined) {
    const folder = await mkdtemp(join(tmpdir(), "pigeonhole-test-"));
    return openLater(join(folder, "inbox.db"), () => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  }
  const file = resolve(context.cwd, inbox);
  if (existsSync(file)) {
    throw usageError(
      `--inbox: ${file} exists. With --start it names a new database, so that the run does not write into an inbox that is in use; without --inbox a temporary one is used.`,
    );
  }
  return openLater(file);
}

/** Opened at the first read, since the app creates the file. */
function openLater(file: string, remove?: () => Promise<void>): AppDatabase {
  let opened: Promise<InboxOperator> | undefined;
  return {
    file,
    async checkOpened(signal) {
      const deadline = Date.now() + OPENING_MS;
      while (!existsSync(file)) {
        if (Date.now() > deadline) throw usageError(NOT_OPENED);
        await sleep(waitingClock, POLL_INTERVAL_MS, signal);
      }
    },
    async inspect(eventId) {
      opened ??= openInbox(file);
      return (await (await opened).getEvent(eventId))?.handlers;
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close();
      await remove?.();
    },
  };
}

const NOT_OPENED = `The app did not open the database that --start gave it as ${DATABASE_VARIABLE}, so nothing was sent: the events would get into another inbox. Let the app read the variable, such as store: process.env.${DATABASE_VARIABLE}, or pass it on under another name: --start 'INBOX_FILE="$${DATABASE_VARIABLE}" npm start'. For an app without a receiver's SQLite file, give --answers-only.`;
