import { elapsedBy, systemClock } from "../../base/clock.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { PigeonholeError } from "../../base/error.js";
import type { BulkJobs } from "../bulk-jobs.js";
import { eraseAll } from "../erase.js";
import type { InboxOperator, OperatorRetry } from "../inbox-operator.js";
import { type EventDetail, bodyOf, foundEvent } from "../inbox-view.js";
import { lockClassOf } from "./advisory-lock.js";
import type { BesideReceivers } from "./beside-receivers.js";
import { operateJobsOfDatabase } from "./bulk-jobs-of-database.js";
import { changeDeadContactEventsOfDatabase } from "./dead-contact-events-of-database.js";
import { hasLiveNode } from "./operations/live-nodes.js";
import { countLists } from "./operations/count-lists.js";
import { countWork } from "./operations/counts.js";
import { discardEvent } from "./operations/discard.js";
import { erasePage } from "./operations/erase.js";
import { listErrorGroups, listFailedHandlers } from "./operations/error-groups.js";
import { listHandlers } from "./operations/list-handlers.js";
import { readFigures, readHandlerTimes, readStatuses } from "./operations/figures.js";
import { inspectEvent, listEvents } from "./operations/inspect.js";
import { knownIds } from "./operations/known-ids.js";
import { countOutbox, discardOutbox, getContactEvent, listOutbox, retryOutbox } from "./operations/outbox-inspect.js";
import { listPaused, pauseHandler, resumeHandler } from "./operations/paused-handlers.js";
import { readBodies } from "./operations/read-bodies.js";
import { readCalls } from "./operations/read-calls.js";
import { dashboardSecret } from "./operations/secret.js";
import { countWaiting, runEvent, runWork } from "./operations/run-now.js";
import { replanEvent } from "./operations/replan.js";
import { requestReading, requestRetry } from "./operations/requested-retries.js";
import { runAllWork } from "../waiting-work.js";
import type { OpenBeside } from "./open-beside-receivers.js";
import { readServerTime } from "./operations/server-time.js";
import type { Sql } from "./sql.js";
import { changeStuckWorkOfDatabase } from "./stuck-work-of-database.js";

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
  return {
    database,
    ...operateEvents(beside, { database, lockClass: lockClassOf(schema) }),
    ...operateContactEvents(beside),
    ...operateJobsOfDatabase({ beside, pages, elapsed }),
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

type OfContactEvents =
  | "listContactEvents"
  | "getContactEvent"
  | "readCalls"
  | "retryContactEvent"
  | "discardContactEvent"
  | "countDeadContactEvents"
  | "retryDeadContactEvents"
  | "discardDeadContactEvents";

type OfEvents = Exclude<keyof InboxOperator, OfContactEvents | keyof BulkJobs | "database" | "backUp" | "close">;

function operateEvents(
  beside: BesideReceivers,
  { database, lockClass }: { database: string; lockClass: number },
): Pick<InboxOperator, OfEvents> {
  const { read, write } = beside;
  const mustGet = async (sql: Sql, id: string): Promise<EventDetail> =>
    foundEvent(await inspectEvent(sql, id), id, database);
  return {
    overview: () =>
      read("counting work", async (sql) => ({
        events: await countWork(sql, await readServerTime(sql)),
        contactEvents: await countOutbox(sql),
      })),
    countLists: () => read("counting events", countLists),
    handlerTimes: (query = {}) => read("reading handler times", (sql) => readHandlerTimes(sql, query)),
    readFigures: (range) =>
      read("reading figures", async (sql) => readFigures(sql, { range, now: await readServerTime(sql) })),
    readStatuses: () => read("reading statuses", readStatuses),
    ...knownIds(read),
    listEvents: (query = {}) => read("listing events", (sql) => listEvents(sql, query)),
    getEvent: (id) => read("reading an event", (sql) => inspectEvent(sql, id)),
    readBodies: (query) => read("reading bodies", (sql) => readBodies(sql, query)),
    retryEvent: (id) =>
      write("retrying an event", async (sql, now) => {
        const event = await mustGet(sql, id);
        bodyOf(event);
        return retryStored(sql, event, now);
      }),
    ...changeStuckWorkOfDatabase(beside),
    runEvent: (id) =>
      write("running waiting work", async (sql, now) => {
        await mustGet(sql, id);
        return runEvent(sql, id, now);
      }),
    runWork: (choice) =>
      runAllWork((from) => write("running waiting work", (sql, now) => runWork(sql, { choice, now, from }))),
    countWaiting: (choice) =>
      read("counting work", async (sql) => countWaiting(sql, choice, await readServerTime(sql))),
    pauseHandler: (handler, by) =>
      write("pausing a handler", (sql, now) => pauseHandler(sql, { handler, since: now, by })),
    resumeHandler: (handler) => write("resuming a handler", (sql) => resumeHandler(sql, handler)),
    listHandlers: () => read("listing handlers", listHandlers),
    listPaused: () => read("listing paused handlers", listPaused),
    listErrorGroups: (query = {}) => read("listing errors", (sql) => listErrorGroups(sql, query)),
    listFailedHandlers: () => read("listing handlers", listFailedHandlers),
    dashboardSecret: () => write("reading the secret of the dashboard", dashboardSecret),
    hasReceiver: () => read("looking for receivers", (sql) => hasLiveNode(sql, lockClass)),
    discardEvent: (id) =>
      write("discarding an event", async (sql, now) => {
        await mustGet(sql, id);
        return discardEvent(sql, id, now);
      }),
    async erase({ email, dryRun = false }) {
      const counts = await eraseAll((cursor) =>
        write("erasing", (sql, now) => erasePage(sql, { email, now, dryRun, cursor })),
      );
      return { ...counts, walLeft: undefined };
    },
  };
}

/** Only an app knows the schemas and handlers to read an event with that was not understood. */
async function retryStored(sql: Sql, { seq, handlers }: EventDetail, now: number): Promise<OperatorRetry> {
  if (handlers.length === 0) return { handlers: 0, readAgain: Number(await requestReading(sql, seq, now)) };
  const stuck = handlers.filter(({ state }) => state === "dead" || state === "parked");
  if (stuck.some(({ handler }) => handler === NOTE_HANDLER)) {
    return { handlers: 0, readAgain: Number(await requestRetry(sql, seq, now)) };
  }
  return { handlers: stuck.length === 0 ? 0 : await replanEvent(sql, { seq, handlers: [], now }), readAgain: 0 };
}

function operateContactEvents(beside: BesideReceivers): Pick<InboxOperator, OfContactEvents> {
  const { read, write } = beside;
  return {
    listContactEvents: (query = {}) => read("listing contact events", (sql) => listOutbox(sql, query)),
    getContactEvent: (key) => read("reading a contact event", (sql) => getContactEvent(sql, key)),
    readCalls: (query) => read("reading calls", (sql) => readCalls(sql, query)),
    retryContactEvent: (key) => write("retrying a contact event", (sql, now) => retryOutbox(sql, key, now)),
    discardContactEvent: (key) => write("discarding a contact event", (sql, now) => discardOutbox(sql, key, now)),
    ...changeDeadContactEventsOfDatabase(beside),
  };
}
