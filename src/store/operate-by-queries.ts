import { randomUUID } from "node:crypto";
import { NOTE_HANDLER } from "../base/note-handler.js";
import { type BulkJob, type JobRow, KEPT_JOBS, checkJob, jobLimit, newJobRow, toBulkJob } from "./bulk-jobs.js";
import type { InboxOperator, OperatorRetry } from "./inbox-operator.js";
import { bodyOf, foundEvent } from "./inbox-view.js";
import {
  type OutboxWords,
  countDeadContactEvents,
  getContactEvent,
  selectContactEvents,
} from "./queries/contact-events.js";
import { discardEvent } from "./queries/ending-work.js";
import { getEvent, listEvents, readBodies } from "./queries/events.js";
import {
  dashboardSecret,
  listFailedHandlers,
  listHandlers,
  listPaused,
  pauseHandler,
  resumeHandler,
} from "./queries/handlers.js";
import { cancelJob, createJob, getJob, listJobs } from "./queries/jobs.js";
import { findIds, idsKnownSince } from "./queries/known-ids.js";
import type { StoreQuery } from "./queries/store-query.js";
import { replanEvent } from "./queries/replan.js";
import { requestReading, requestRetry } from "./queries/requested-retries.js";
import { type WaitingWords, countWaiting, runEvent } from "./queries/waiting-work.js";
import { countStuck } from "./queries/work-choice.js";

/** How queries are run on one kind of database; each in a transaction, at the time `now` of the database. */
export interface QueryRunner {
  /** For messages. */
  database: string;
  words: OutboxWords & WaitingWords;
  read: <Value>(doing: string, query: () => StoreQuery<Value>) => Promise<Value>;
  readAt: <Value>(doing: string, query: (now: number) => StoreQuery<Value>) => Promise<Value>;
  write: <Value>(doing: string, query: (now: number) => StoreQuery<Value>) => Promise<Value>;
}

/** What of the operator's view is the same on both databases. */
export function operateByQueries(runner: QueryRunner) {
  const { database, words, read, readAt, write } = runner;
  return {
    findIds: (ids) => read("looking for ids", () => findIds(ids)),
    idsKnownSince: () => read("reading times", idsKnownSince),
    listEvents: (query = {}) => read("listing events", () => listEvents(query)),
    getEvent: (id) => read("reading an event", () => getEvent(id)),
    readBodies: (query) => read("reading bodies", () => readBodies(query)),
    retryEvent: (id) => write("retrying an event", (now) => retryEvent({ id, now, database })),
    countWork: (choice) => read("counting work", () => countStuck(choice)),
    runEvent: (id) =>
      write("running waiting work", function* (now) {
        foundEvent(yield* getEvent(id), id, database);
        return yield* runEvent(words, { id, now });
      }),
    countWaiting: (choice) => readAt("counting work", (now) => countWaiting(words, { choice, now })),
    pauseHandler: (handler, by) => write("pausing a handler", (now) => pauseHandler({ handler, by, since: now })),
    resumeHandler: (handler) => write("resuming a handler", () => resumeHandler(handler)),
    listHandlers: () => read("listing handlers", listHandlers),
    listPaused: () => read("listing paused handlers", listPaused),
    listFailedHandlers: () => read("listing handlers", listFailedHandlers),
    dashboardSecret: () => write("reading the secret of the dashboard", dashboardSecret),
    discardEvent: (id) =>
      write("discarding an event", function* (now) {
        foundEvent(yield* getEvent(id), id, database);
        return yield* discardEvent({ id, now });
      }),
    listContactEvents: (query = {}) => read("listing contact events", () => selectContactEvents(words, query)),
    getContactEvent: (key) => read("reading a contact event", () => getContactEvent(key)),
    countDeadContactEvents: (choice) => read("counting contact events", () => countDeadContactEvents(words, choice)),
    ...operateJobs(runner),
  } satisfies Partial<InboxOperator>;
}

function operateJobs({ words, read, readAt, write }: QueryRunner) {
  function countJob(
    job: Pick<BulkJob, "action" | "choice">,
    now: number,
  ): StoreQuery<{ events: number; work: number }> {
    checkJob(job);
    const { action, choice } = job;
    return action === "run" ? countWaiting(words, { choice, now }) : countStuck(choice);
  }
  return {
    countJob: (job) => readAt("counting work", (now) => countJob(job, now)),
    async createJob(job) {
      const { work: total } = await readAt("counting work", (now) => countJob(job, now));
      return write("creating a job", function* (now) {
        const row = newJobRow({ ...job, id: randomUUID(), createdAt: now, total });
        yield* createJob(row, KEPT_JOBS);
        return toBulkJob(row);
      });
    },
    listJobs: async (query) => (await read("listing jobs", () => listJobs(jobLimit(query)))).map(toBulkJob),
    getJob: async (id) => jobOf(await read("reading a job", () => getJob(id))),
    cancelJob: (id) => write("cancelling a job", (now) => cancelJob({ id, now })),
  } satisfies Partial<InboxOperator>;
}

export const jobOf = (row: JobRow | undefined): BulkJob | undefined => (row === undefined ? undefined : toBulkJob(row));

/** Only an app knows the schemas and handlers to read an event with that was not understood. */
function* retryEvent(of: { id: string; now: number; database: string }): StoreQuery<OperatorRetry> {
  const { id, now, database } = of;
  const event = foundEvent(yield* getEvent(id), id, database);
  bodyOf(event);
  const { seq, handlers } = event;
  if (handlers.length === 0) return { handlers: 0, readAgain: Number(yield* requestReading({ seq, now })) };
  const stuck = handlers.filter(({ state }) => state === "dead" || state === "parked");
  if (stuck.some(({ handler }) => handler === NOTE_HANDLER)) {
    return { handlers: 0, readAgain: Number(yield* requestRetry({ seq, now })) };
  }
  return { handlers: stuck.length === 0 ? 0 : yield* replanEvent({ seq, handlers: [], now }), readAgain: 0 };
}
