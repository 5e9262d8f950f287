import { randomUUID } from "node:crypto";
import { isoTime } from "../base/iso-time.js";
import { NOTE_HANDLER } from "../base/note-handler.js";
import {
  BEFORE_ALL,
  type JobAction,
  type JobChoice,
  KEPT_JOBS,
  checkJob,
  jobLimit,
  newJobRow,
  toBulkJob,
} from "./bulk-jobs.js";
import type { ChangedWork, InboxOperator, RunCounts, StoreOverview } from "./inbox-operator.js";
import { typesOfHistory } from "./history.js";
import { type EventDetail, bodyOf, foundEvent } from "./inbox-view.js";
import type { ContactEventChoice } from "./outbox.js";
import { changeContactEvent, discardDeadContactEvent, reviveContactEvent } from "./queries/contact-event-changes.js";
import {
  countContactEvents,
  countDeadContactEvents,
  getContactEvent,
  selectContactEvents,
  selectDeadContactEvents,
} from "./queries/contact-events.js";
import { countStoredWork } from "./queries/counts.js";
import { endWork } from "./queries/ending-work.js";
import { listErrorGroups } from "./queries/error-groups.js";
import { getEvent, getEventWithGates, listEvents, listSameIds, readBodies } from "./queries/events.js";
import { readFigures, readHandlerTimes, readStatuses } from "./queries/figures.js";
import { dashboardSecret, listHandlers, listPolicies, pauseHandler, resumeHandler } from "./queries/handlers.js";
import { countHistory } from "./queries/history.js";
import { changeOpenJob, createJob, getJob, listJobs } from "./queries/jobs.js";
import { idsKnownSince } from "./queries/known-ids.js";
import { replanEvent, requestReading, requestRetry } from "./queries/replan.js";
import { claimRepair, endRepair, listRepairs } from "./queries/repairs.js";
import type { StoreQuery } from "./queries/store-query.js";
import { type FoundPiece, changePieces, countPieces, runEvent, selectPieces } from "./queries/work-changes.js";
import { type QueryRunner, changePages } from "./query-runner.js";
import { jobOf, prepareRunJobPage } from "./run-job-page.js";

/** What of the operator's view is the same on both databases. */
export function operateByQueries(runner: QueryRunner, pages = runner) {
  const { database, read, readAt, write } = runner;
  return {
    idsKnownSince: () => read("reading times", idsKnownSince),
    overview: () => readAt("counting work", readOverview),
    listEvents: (query = {}) => readAt("listing events", (now) => listEvents(query, now)),
    getEvent: (id) => readAt("reading an event", (now) => getEventWithGates({ id, now })),
    readBodies: (query) => read("reading bodies", () => readBodies(query)),
    changeEvent: (action, id) =>
      write("changing the work of an event", function* (now) {
        const event = yield* getEvent(id);
        const sameIds = event === undefined ? yield* listSameIds(id) : [];
        return yield* changeEvent(action, { event: foundEvent(event, { id, place: database, sameIds }), now });
      }),
    countWork: (action, choice) => readAt("counting work", (now) => countWork({ action, choice }, now)),
    listErrorGroups: (query = {}) => read("listing errors", () => listErrorGroups(query)),
    handlerTimes: (query = {}) => read("reading handler times", () => readHandlerTimes(query)),
    readFigures: (range) => readAt("reading figures", (now) => readFigures({ range, now })),
    readStatuses: () => read("reading statuses", readStatuses),
    pauseHandler: (handler, by) => write("pausing a handler", (now) => pauseHandler({ handler, by, since: now })),
    resumeHandler: (handler) => write("resuming a handler", () => resumeHandler(handler)),
    listHandlers: () => read("listing handlers", listHandlers),
    claimRepair: (of) => write("beginning a repair", (now) => claimRepair({ ...of, now })),
    async endRepair(of) {
      await write("ending a repair", (now) => endRepair({ ...of, now }));
    },
    dashboardSecret: () => write("reading the secret of the dashboard", dashboardSecret),
    listContactEvents: (query = {}) => read("listing contact events", () => selectContactEvents(query)),
    getContactEvent: (key) => read("reading a contact event", () => getContactEvent(key)),
    changeContactEvent: (action, key) =>
      write("changing a contact event", (now) => changeContactEvent(action, { key, now })),
    ...changeByPages(runner),
    ...operateJobs(runner),
    ...planHistories(runner),
    runJobPage: prepareRunJobPage(runner, pages),
  } satisfies Partial<InboxOperator>;
}

function* readOverview(at: number): StoreQuery<StoreOverview> {
  const events = yield* countStoredWork(at);
  return { at: isoTime(at), events, contactEvents: yield* countContactEvents(), repairs: yield* listRepairs() };
}

function countWork(of: { action: JobAction; choice: JobChoice }, now: number): StoreQuery<RunCounts> {
  checkJob(of);
  return countPieces(of.action, { choice: of.choice, now });
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
    changeJob: (change, id) => write("changing a job", (now) => changeOpenJob(change, { id, now })),
  } satisfies Partial<InboxOperator>;
}

function planHistories({ read, write }: QueryRunner): Pick<InboxOperator, "planHistory"> {
  return {
    async planHistory({ handler, since, until, types, dryRun = false, handlerTypes, by }) {
      const policies = await read("listing handlers", listPolicies);
      const kept = policies.find((policy) => policy.handler === handler)?.types;
      const known = policies.map((policy) => policy.handler);
      const found = typesOfHistory({ handler, types }, { handlerTypes: handlerTypes ?? kept, known });
      const choice = { handler, types: found, since, until };
      const { all = 0, withBody = 0, first, last } = (await read("counting events", () => countHistory(choice))) ?? {};
      const counts = { events: withBody, withoutBody: all - withBody };
      if (dryRun || withBody === 0) return { ...counts, job: null };
      const position = { after: (first ?? 1) - 1, through: last ?? 0 };
      const job = { action: "plan", choice, by, id: randomUUID(), total: withBody, position } as const;
      await write("creating a job", (now) => createJob(newJobRow({ ...job, createdAt: now }), KEPT_JOBS));
      return { ...counts, job: job.id };
    },
  };
}

/** What is changed a small page at a time. */
function changeByPages(runner: QueryRunner) {
  /** Returns the sum of what `change` returns for each event. */
  async function changeDead(
    choice: ContactEventChoice,
    change: (event: { seq: number; now: number }) => StoreQuery<number>,
  ): Promise<number> {
    const pages = changePages(runner, {
      doing: "changing contact events",
      select: (after: { seq: number } = { seq: 0 }, limit) =>
        selectDeadContactEvents(choice, { after: after.seq, limit }),
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
      const events = new Set<number>();
      let [work, readAgain] = [0, 0];
      const pages = changePages(runner, {
        doing: "changing work",
        select: (after: FoundPiece | undefined, limit, now) =>
          selectPieces(action, { choice, after: after ?? BEFORE_ALL, limit, now }),
        change: (pieces, now) => changePieces(action, { pieces, now }),
      });
      for await (const page of pages) {
        for (const { seq, handler } of page) {
          events.add(seq);
          if (action === "retry" && handler === NOTE_HANDLER) readAgain += 1;
          else work += 1;
        }
      }
      return { events: events.size, work, readAgain };
    },
    changeContactEvents: (action, choice, { dryRun = false } = {}) =>
      dryRun
        ? runner.read("counting contact events", () => countDeadContactEvents(choice))
        : changeDead(choice, action === "retry" ? reviveContactEvent : discardDeadContactEvent),
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
