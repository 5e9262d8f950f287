import { randomUUID } from "node:crypto";
import { NOTE_HANDLER } from "../base/note-handler.js";
import { type BulkJob, KEPT_JOBS, checkJob, jobLimit, newJobRow, toBulkJob } from "./bulk-jobs.js";
import type { InboxOperator, OperatorRetry, StuckPiece, StuckWork } from "./inbox-operator.js";
import { bodyOf, foundEvent } from "./inbox-view.js";
import type { ContactEventChoice } from "./outbox.js";
import {
  discardByKey,
  discardDeadContactEvent,
  retryContactEvent,
  reviveContactEvent,
} from "./queries/contact-event-changes.js";
import {
  countDeadContactEvents,
  getContactEvent,
  selectContactEvents,
  selectDeadContactEvents,
} from "./queries/contact-events.js";
import { discardEvent } from "./queries/ending-work.js";
import { getEvent, getEventWithGates, listEvents, readBodies } from "./queries/events.js";
import { readFigures, readHandlerTimes, readStatuses } from "./queries/figures.js";
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
import { replanEvent } from "./queries/replan.js";
import type { StoreQuery } from "./queries/store-query.js";
import { changeStuck, selectStuck } from "./queries/stuck-work.js";
import { requestReading, requestRetry } from "./queries/requested-retries.js";
import { countWaiting, runEvent } from "./queries/waiting-work.js";
import { countStuck } from "./queries/work-choice.js";
import { type QueryRunner, changePages } from "./query-runner.js";
import { jobOf, prepareRunJobPage } from "./run-job-page.js";
import { runWaitingWork } from "./run-waiting-work.js";

const BEFORE_ALL: StuckPiece = { seq: 0, handler: NOTE_HANDLER };

/** What of the operator's view is the same on both databases. */
export function operateByQueries(runner: QueryRunner, pages = runner) {
  const { database, read, readAt, write } = runner;
  return {
    findIds: (ids) => read("looking for ids", () => findIds(ids)),
    idsKnownSince: () => read("reading times", idsKnownSince),
    listEvents: (query = {}) => read("listing events", () => listEvents(query)),
    getEvent: (id) => readAt("reading an event", (now) => getEventWithGates({ id, now })),
    readBodies: (query) => read("reading bodies", () => readBodies(query)),
    retryEvent: (id) => write("retrying an event", (now) => retryEvent({ id, now, database })),
    countWork: (choice) => read("counting work", () => countStuck(choice)),
    runEvent: (id) =>
      write("running waiting work", function* (now) {
        foundEvent(yield* getEvent(id), id, database);
        return yield* runEvent({ id, now });
      }),
    countWaiting: (choice) => readAt("counting work", (now) => countWaiting({ choice, now })),
    handlerTimes: (query = {}) => read("reading handler times", () => readHandlerTimes(query)),
    readFigures: (range) => readAt("reading figures", (now) => readFigures({ range, now })),
    readStatuses: () => read("reading statuses", readStatuses),
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
    listContactEvents: (query = {}) => read("listing contact events", () => selectContactEvents(query)),
    getContactEvent: (key) => read("reading a contact event", () => getContactEvent(key)),
    retryContactEvent: (key) => write("retrying a contact event", (now) => retryContactEvent({ key, now })),
    discardContactEvent: (key) => write("discarding a contact event", (now) => discardByKey({ key, now })),
    countDeadContactEvents: (choice) => read("counting contact events", () => countDeadContactEvents(choice)),
    ...changeByPages(runner),
    ...operateJobs(runner),
    runJobPage: prepareRunJobPage(runner, pages),
  } satisfies Partial<InboxOperator>;
}

function operateJobs({ read, readAt, write }: QueryRunner) {
  function countJob(
    job: Pick<BulkJob, "action" | "choice">,
    now: number,
  ): StoreQuery<{ events: number; work: number }> {
    checkJob(job);
    const { action, choice } = job;
    return action === "run" ? countWaiting({ choice, now }) : countStuck(choice);
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

const STATES = ["dead", "parked"] as const;

/** What is changed a small page at a time. */
function changeByPages(runner: QueryRunner) {
  async function changeWork(action: "retry" | "discard", choice: StuckWork) {
    const changed: StuckPiece[] = [];
    let skipped = 0;
    for (const state of choice.state === undefined ? STATES : [choice.state]) {
      const pages = changePages(runner, {
        doing: "changing work",
        select: (after: StuckPiece = BEFORE_ALL, limit) => selectStuck({ choice: { ...choice, state }, after, limit }),
        change: (pieces, now) => changeStuck(action, { pieces, now }),
      });
      for await (const page of pages) {
        changed.push(...page.changed);
        skipped += page.skipped;
      }
    }
    return { changed, skipped, events: new Set(changed.map(({ seq }) => seq)).size };
  }

  /** Returns the sum of what `change` returns for each event. */
  async function changeDead(
    choice: ContactEventChoice,
    change: (event: { seq: number; now: number }) => StoreQuery<number>,
  ): Promise<number> {
    const pages = changePages(runner, {
      doing: "changing contact events",
      select: (after: { seq: number } = { seq: 0 }, limit) =>
        selectDeadContactEvents({ choice, after: after.seq, limit }),
      *change(events, now) {
        let changed = 0;
        for (const { seq } of events) changed += yield* change({ seq, now });
        return changed;
      },
    });
    let total = 0;
    for await (const changed of pages) total += changed;
    return total;
  }

  return {
    async retryWork(choice) {
      const { changed, skipped, events } = await changeWork("retry", choice);
      const readAgain = changed.filter(({ handler }) => handler === NOTE_HANDLER).length;
      return { events, handlers: changed.length - readAgain, readAgain, skipped };
    },
    async discardWork(choice) {
      const { changed, events } = await changeWork("discard", choice);
      return { events, work: changed.length };
    },
    runWork: (choice) => runWaitingWork(runner, choice),
    retryDeadContactEvents: (choice) => changeDead(choice, reviveContactEvent),
    discardDeadContactEvents: (choice) => changeDead(choice, discardDeadContactEvent),
  } satisfies Partial<InboxOperator>;
}

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
