import { elapsedBy, systemClock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import { eraseAll } from "../erase.js";
import type { InboxOperator } from "../inbox-operator.js";
import { operateByQueries } from "../operate-by-queries.js";
import { countLists } from "../queries/count-lists.js";
import { runAllWork } from "../waiting-work.js";
import { lockClassOf } from "./advisory-lock.js";
import type { BesideReceivers } from "./beside-receivers.js";
import { runJobPageOfDatabase } from "./bulk-jobs-of-database.js";
import { changeDeadContactEventsOfDatabase } from "./dead-contact-events-of-database.js";
import type { OpenBeside } from "./open-beside-receivers.js";
import { countWork } from "./operations/counts.js";
import { erasePage } from "./operations/erase.js";
import { listErrorGroups } from "./operations/error-groups.js";
import { readFigures, readHandlerTimes, readStatuses } from "./operations/figures.js";
import { hasLiveNode } from "./operations/live-nodes.js";
import { countOutbox, discardOutbox, retryOutbox } from "./operations/outbox-change.js";
import { runWork } from "./operations/run-work.js";
import { runOnServer } from "./run-on-server.js";
import { changeStuckWorkOfDatabase } from "./stuck-work-of-database.js";
import { SERVER_WORDS } from "./words.js";

/**
 * Opens the database of receivers to list, retry and discard their events, at a place as commands take it. Rejects
 * with `invalid_argument` without tables, `schema_too_old`, `schema_too_new`, `not_a_pigeonhole_database`, or what
 * keeps it from being reached.
 */
export async function openInboxDatabase(place: string): Promise<InboxOperator> {
  const { openBesideReceivers } = await import("./open-beside-receivers.js");
  return operateDatabase(await openBesideReceivers(place));
}

/**
 * The operator's view through connections, which the view closes with itself. `pages`: where pages of jobs run;
 * `elapsed`: time that never jumps, in milliseconds.
 */
export function operateDatabase({
  database,
  schema,
  beside,
  pages = beside,
  elapsed = () => elapsedBy(systemClock),
  close,
}: OpenBeside & { pages?: BesideReceivers; elapsed?: () => number }): InboxOperator {
  const { now, read, write } = beside;
  return {
    database,
    ...operateByQueries({
      database,
      words: SERVER_WORDS,
      read: (doing, query) => read(doing, (sql) => runOnServer(sql, query())),
      readAt: (doing, query) => read(doing, async (sql) => runOnServer(sql, query(await now(sql)))),
      write: (doing, query) => write(doing, (sql, now) => runOnServer(sql, query(now))),
    }),
    overview: () =>
      read("counting work", async (sql) => ({
        events: await countWork(sql, await now(sql)),
        contactEvents: await countOutbox(sql),
      })),
    countLists: () => read("counting events", async (sql) => runOnServer(sql, countLists(await countOutbox(sql)))),
    handlerTimes: (query = {}) => read("reading handler times", (sql) => readHandlerTimes(sql, query)),
    readFigures: (range) => read("reading figures", async (sql) => readFigures(sql, { range, now: await now(sql) })),
    readStatuses: () => read("reading statuses", readStatuses),
    listErrorGroups: (query = {}) => read("listing errors", (sql) => listErrorGroups(sql, query)),
    ...changeStuckWorkOfDatabase(beside),
    runWork: (choice) =>
      runAllWork((from) => write("running waiting work", (sql, now) => runWork(sql, { choice, now, from }))),
    runJobPage: runJobPageOfDatabase({ beside, pages, elapsed }),
    hasReceiver: () => read("looking for receivers", (sql) => hasLiveNode(sql, lockClassOf(schema))),
    async erase({ email, dryRun = false }) {
      const counts = await eraseAll((cursor) =>
        write("erasing", (sql, now) => erasePage(sql, { email, now, dryRun, cursor })),
      );
      return { ...counts, walLeft: undefined };
    },
    retryContactEvent: (key) => write("retrying a contact event", (sql, now) => retryOutbox(sql, key, now)),
    discardContactEvent: (key) => write("discarding a contact event", (sql, now) => discardOutbox(sql, key, now)),
    ...changeDeadContactEventsOfDatabase(beside),
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    async backUp() {
      throw new PigeonholeError(
        "invalid_argument",
        `${database} is a PostgreSQL, which has programs of its own for copies: pg_dump --schema=${schema} for the inbox alone, or pg_basebackup and the backups of your provider for all of it.`,
      );
    },
    close,
  };
}
