import { randomUUID } from "node:crypto";
import { NOTE_HANDLER } from "../base/note-handler.js";
import { type JobAction, KEPT_JOBS, checkJob, jobLimit, newJobRow, toBulkJob } from "./bulk-jobs.js";
import type { ChangedWork, InboxOperator, StuckPiece, StuckWork } from "./inbox-operator.js";
import { type EventDetail, bodyOf, foundEvent } from "./inbox-view.js";
import type { ContactEventChoice } from "./outbox.js";
import { changeContactEvent, discardDeadContactEvent, reviveContactEvent } from "./queries/contact-event-changes.js";
import {
  countDeadContactEvents,
  getContactEvent,
  selectContactEvents,
  selectDeadContactEvents,
} from "./queries/contact-events.js";
import { countLists } from "./queries/count-lists.js";
import { endWork } from "./queries/ending-work.js";
import { listErrorGroups } from "./queries/error-groups.js";
import { getEvent, getEventWithGates, listEvents, readBodies } from "./queries/events.js";
import { readFigures, readHandlerTimes, readStatuses } from "./queries/figures.js";
import { dashboardSecret, listHandlers, pauseHandler, resumeHandler } from "./queries/handlers.js";
import { cancelJob, createJob, getJob, listJobs } from "./queries/jobs.js";
import { idsKnownSince } from "./queries/known-ids.js";
import { replanEvent } from "./queries/replan.js";
import type { StoreQuery } from "./queries/store-query.js";
import { changeStuck, selectStuck } from "./queries/stuck-work.js";
import { requestReading, requestRetry } from "./queries/requested-retries.js";
import { countWaiting, runEvent } from "./queries/waiting-work.js";
import { countStuck } from "./queries/work-choice.js";
import { type QueryRunner, changePages } from "./query-runner.js";
import { jobOf, prepareRunJobPage } from "./run-job-page.js";
import { runWaitingWork } from "./run-waiting-work.js";
import type { RunCounts } from "./waiting-work.js";

const BEFORE_ALL: StuckPiece = { seq: 0, handler: NOTE_HANDLER };

/** What of the operator's view is the same on both databases. */
export function operateByQueries(runner: QueryRunner, pages = runner) {
  const { database, read, readAt, write } = runner;
  return {
    idsKnownSince: () => read("reading times", idsKnownSince),
    listEvents: (query = {}) => read("listing events", () => listEvents(query)),
    getEvent: (id) => readAt("reading an event", (now) => getEventWithGates({ id, now })),
    readBodies: (query) => read("reading bodies", () => readBodies(query)),
    changeEvent: (action, id) =>
      write("changing the work of an event", function* (now) {
        return yield* changeEvent(action, { event: foundEvent(yield* getEvent(id), id, database), now });
      }),
    countWork: (action, choice) => readAt("counting work", (now) => countWork({ action, choice }, now)),
    countLists: () => read("counting events", countLists),
    listErrorGroups: (query = {}) => read("listing errors", () => listErrorGroups(query)),
    handlerTimes: (query = {}) => read("reading handler times", () => readHandlerTimes(query)),
    readFigures: (range) => readAt("reading figures", (now) => readFigures({ range, now })),
    readStatuses: () => read("reading statuses", readStatuses),
    pauseHandler: (handler, by) => write("pausing a handler", (now) => pauseHandler({ handler, by, since: now })),
    resumeHandler: (handler) => write("resuming a handler", () => resumeHandler(handler)),
    listHandlers: () => read("listing handlers", listHandlers),
    dashboardSecret: () => write("reading the secret of the dashboard", dashboardSecret),
    listContactEvents: (query = {}) => read("listing contact events", () => selectContactEvents(query)),
    getContactEvent: (key) => read("reading a contact event", () => getContactEvent(key)),
    changeContactEvent: (action, key) =>
      write("changing a contact event", (now) => changeContactEvent(action, { key, now })),
    countDeadContactEvents: (choice) => read("counting contact events", () => countDeadContactEvents(choice)),
    ...changeByPages(runner),
    ...operateJobs(runner),
    runJobPage: prepareRunJobPage(runner, pages),
  } satisfies Partial<InboxOperator>;
}

function countWork(of: { action: JobAction; choice: StuckWork }, now: number): StoreQuery<RunCounts> {
  checkJob(of);
  const { action, choice } = of;
  return action === "run" ? countWaiting({ choice, now }) : countStuck(choice);
}

function operateJobs({ read, readAt, write }: QueryRunner) {
  return {
    async createJob(job) {
      const { work: total } = await readAt("counting work", (now) => countWork(job, now));
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
  async function changeStuckWork(action: "retry" | "discard", choice: StuckWork) {
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
    const readAgain = action === "retry" ? changed.filter(({ handler }) => handler === NOTE_HANDLER).length : 0;
    const events = new Set(changed.map(({ seq }) => seq)).size;
    return { events, work: changed.length - readAgain, readAgain, skipped };
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
    async changeWork(action, choice) {
      checkJob({ action, choice });
      if (action !== "run") return changeStuckWork(action, choice);
      return { ...(await runWaitingWork(runner, choice)), readAgain: 0, skipped: 0 };
    },
    changeContactEvents: (action, choice) =>
      changeDead(choice, action === "retry" ? reviveContactEvent : discardDeadContactEvent),
  } satisfies Partial<InboxOperator>;
}

/** An event as it was found, and when it is changed. */
interface FoundAt {
  event: EventDetail;
  now: number;
}

function* changeEvent(action: JobAction, { event, now }: FoundAt): StoreQuery<ChangedWork> {
  const { seq } = event;
  switch (action) {
    case "retry":
      return yield* retryEvent({ event, now });
    case "run":
      return { work: yield* runEvent({ seq, now }), readAgain: 0 };
    case "discard":
      return { work: yield* endWork({ seq, now }), readAgain: 0 };
  }
}

/** Only an app knows the schemas and handlers to read an event with that was not understood. */
function* retryEvent({ event, now }: FoundAt): StoreQuery<ChangedWork> {
  bodyOf(event);
  const { seq, handlers } = event;
  if (handlers.length === 0) return { work: 0, readAgain: Number(yield* requestReading({ seq, now })) };
  const stuck = handlers.filter(({ state }) => state === "dead" || state === "parked");
  if (stuck.some(({ handler }) => handler === NOTE_HANDLER)) {
    return { work: 0, readAgain: Number(yield* requestRetry({ seq, now })) };
  }
  return { work: stuck.length === 0 ? 0 : yield* replanEvent({ seq, handlers: [], now }), readAgain: 0 };
}
