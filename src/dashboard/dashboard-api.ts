/*
 * The protocol between the dashboard's page and its server: JSON under `api/`, relative to where the dashboard is
 * mounted. The page builds relative URLs only, so that any mount works. The page itself is at the mount with a slash at
 * its end; without it the server redirects there.
 *
 * GET  api/session                             → DashboardSession
 * GET  api/overview?range=1h|24h|7d            → DashboardOverview
 * GET  api/stream                              → server-sent events, see StreamMessages
 * GET  api/errors?handler=&type=&state=&since=&until= → ErrorGroupPage
 * GET  api/events?state=&handler=&type=&error=&id=&text=&since=&until=&group=&cursor= → DashboardEventPage
 * GET  api/events/{id}                         → DashboardEventDetail
 * GET  api/events/{id}/deliveries              → EventDeliveries; the service is asked, which takes its time
 * POST api/events/{id}/retry | discard | run {} → InboxChange
 * POST api/events/{id}/payload {}              → UnveiledPayload; logged with the name
 * POST api/events/{id}/fixture {}              → FileText: a capture for the app's own tests; logged with the name
 * POST api/events/{id}/capture {}              → FileText: a capture, strictly redacted, for the dev server; logged
 * GET  api/running                             → RunningWork
 * GET  api/handlers                            → HandlerReport
 * POST api/handlers/pause | resume  HandlerBody → HandlerReport
 * POST api/jobs/preview  JobBody               → JobPreview
 * POST api/jobs          JobBody               → BulkJobRow
 * GET  api/jobs                                → BulkJobList, newest first
 * POST api/jobs/{id}/cancel {}                 → BulkJobRow
 * GET  api/outbox?state=&name=&text=&error=&since=&until=&event=&cursor= → DashboardContactEventPage
 * GET  api/outbox/{key}                        → DashboardContactEventDetail
 * POST api/outbox/retry | discard  IdsBody (keys) → InboxChanges
 *
 * Keys of contact events are digests of their contacts, and groups of errors of their messages. So the API gives names
 * of them, which are the same for everybody and open for everybody. Whose `payloads` are `full` gets keys beside them,
 * and may ask by keys and groups as other tools name them.
 *
 * `since` and `until` are ISO 8601. An empty parameter counts as left out. In a path, `{id}` is encoded by
 * encodeURIComponent. Pages of lists may be short or empty and still have a `nextCursor`.
 *
 * Every POST has `content-type: application/json`, a JSON object as its body, and the header TOKEN_HEADER with the
 * token of the session. Errors: the status and PageApiErrorBody. Codes that the page should know: `token_expired` (403:
 * read the session again, then repeat the POST once if the name is the same), `not_allowed` (403: the person may only
 * read), `payload_hidden` (403), `signed_out` (403: `allow` serves nobody by that request any more), `no_such_path`
 * (404), `too_many_streams` (503), `stopped` (503: the receiver has stopped).
 *
 * While the store cannot be read, `session`, `overview`, `running` and `stream` are answered from the memory of this
 * process, with a StoreTrouble; all else is answered 503 with the code of the store's error.
 */
import type {
  ContactEventDetail,
  ContactEventRow,
  HandlerTimesRow,
  IdsBody,
  InboxChange,
  InboxChanges,
  InboxEvent,
  InboxEventDetail,
} from "../dev/api/page-api.js";
import type { ShownStep, TimelineEntry } from "../dev/api/timeline-entry.js";
import type { OutcomeKind } from "../protocol/outcome.js";
import type { JobAction } from "../store/bulk-jobs.js";
import type { FigureRange, StepValues } from "../store/figures.js";

export type { FigureRange, IdsBody, InboxChange, InboxChanges, JobAction, ShownStep, StepValues, TimelineEntry };

/** From this age on, {@link DashboardNow.countedAgoMs} is shown. */
export const OLD_COUNTS_MS = 5_000;

/** Carries {@link DashboardSession.token} with every POST. */
export const TOKEN_HEADER = "x-pigeonhole-token";

/** What a person may do: look, or also act. */
export type DashboardRole = "read" | "operate";

/**
 * How much of payloads a person may see. `hidden`: nothing. `redacted`: without personal data. `full`: redacted until
 * the person unveils an event, which is logged.
 */
export type PayloadAccess = "hidden" | "redacted" | "full";

/** Who looks, and what the person may do. */
export interface DashboardSession {
  /** Version of this package. */
  version: string;
  /** Name of the person as the app gave it; every action is logged with it. */
  name: string;
  role: DashboardRole;
  payloads: PayloadAccess;
  /** For the header of POSTs; bound to the name. Empty while the store's secret, which signs it, cannot be read. */
  token: string;
  /** When the token ends, ISO 8601; null without one. */
  tokenExpiresAt: string | null;
  /** Path of the file, or server and database without the password; null before the receiver has opened it. */
  database: string | null;
  /** Names for filters. */
  eventTypes: string[];
  /** Names of the handlers that this process has, in their order, for filters. */
  handlers: string[];
}

/**
 * What the plots show: all processes of the store together. With {@link DashboardNow.trouble}: the last hour of this
 * process, whatever range was asked for.
 */
export interface DashboardOverview {
  range: FigureRange;
  /** Length of a step, in milliseconds. */
  stepMs: number;
  /** Start of each step, in milliseconds since 1970, ascending without gaps; the last step may still be open. */
  times: number[];
  /** Deliveries in each step, by outcome; outcomes without any are left out. */
  answers: Partial<Record<OutcomeKind, StepValues>>;
  /** Time from a delivery to its answer, in milliseconds. */
  latency: { medianMs: StepValues; p95Ms: StepValues; p99Ms: StepValues };
  /** In the order of their names. */
  handlers: HandlerSeries[];
  /** Runs of handlers that found no place in a step, together; null without any. */
  otherHandlers: DashboardRunSeries | null;
  /** Work that waits or runs; and the age of the oldest, in milliseconds. */
  backlog: { depth: StepValues; oldestAgeMs: StepValues };
  /** Contact events that wait or are being sent; and the age of the oldest, in milliseconds. */
  outbox: { depth: StepValues; oldestAgeMs: StepValues };
  /** Of the store, and of its disk; null throughout on PostgreSQL where it is not known. */
  disk: { usedBytes: StepValues; freeBytes: StepValues };
  now: DashboardNow;
}

/** Runs in each step. */
export interface DashboardRunSeries {
  /** Runs that ended, those that failed included. */
  runs: StepValues;
  failed: StepValues;
  medianMs: StepValues;
  p95Ms: StepValues;
  p99Ms: StepValues;
}

/** A handler's runs in each step. */
export interface HandlerSeries extends DashboardRunSeries {
  handler: string;
  /** Of its runs in the range, from a whole step of ten minutes on; null without one. */
  times: HandlerTimesRow | null;
}

/** The state at one moment. */
export interface DashboardNow {
  /** ISO 8601. */
  at: string;
  /**
   * Why the store cannot be read; null while it can. With it, all of this is of the process that answers, from its
   * memory, and what only the store knows is null or empty.
   */
  trouble: StoreTrouble | null;
  /** What the process that answers has raised and is not over, the last raised first. */
  alarms: AlarmRow[];
  /** The most serious state of the processes that live, such as `running` or `stopping`; `stopped` without one. */
  state: string;
  /** Processes on the store that reported within the last minutes, this one first. */
  processes: ProcessRow[];
  endpoint: EndpointHealth;
  backlog: {
    pending: number;
    leased: number;
    dead: number;
    parked: number;
    /** Age of the oldest event with work that waits or runs, in milliseconds; 0 without one. */
    oldestAgeMs: number;
  } | null;
  outbox: { pending: number; leased: number; dead: number; oldestAgeMs: number } | null;
  /** How long ago `backlog`, `outbox` and the work of `paused` were counted, in milliseconds: much takes its time. */
  countedAgoMs: number;
  /** Null where it is not known. */
  disk: { usedBytes: number | null; freeBytes: number | null };
  /** Handlers that do not run until they are resumed; the page shows a banner. */
  paused: PausedHandlerRow[];
  /** Handlers that run now, of all processes. */
  running: number;
}

/** Why the store cannot be read; without secrets and without what its rows hold. */
export interface StoreTrouble {
  /** Code of the error, such as `store_replaced` or `store_unreachable`; `not_started` before the receiver has. */
  code: string;
  /** What happened, plain text. */
  message: string;
  /** What to do, plain text. */
  advice: string;
}

/** A problem that needs an operator. */
export interface AlarmRow {
  /** Such as `store_unavailable`. */
  kind: string;
  /** Since when it is raised again and again, ISO 8601. */
  since: string;
  /** When it was raised last, ISO 8601. */
  at: string;
  /** Its numbers and codes, such as `inARow 20, disablesAt 100`; empty without any. */
  detail: string;
  /** What to do, plain text. */
  advice: string;
}

/** How near the service is to switching the endpoint off. */
export interface EndpointHealth {
  /** Answers other than 2xx in a row, of all processes together: after the last 2xx of any. */
  failuresInARow: number;
  /** 100, the service's limit. */
  disablesAt: number;
  /** When a delivery was last stored, ISO 8601; null when the store had none. */
  lastAcceptedAt: string | null;
  /** Since then, in milliseconds; null with it. */
  silentForMs: number | null;
  /** True when that is longer than the option `silenceAfterMs` of a receiver. */
  isSilent: boolean;
}

/** A process that has the store open. */
export interface ProcessRow {
  /** Opaque; unique among processes. */
  process: string;
  /** Name of its machine. */
  host: string;
  /** Its number on that machine. */
  pid: number;
  /** The receiver's option `role`. */
  role: string;
  /** When it started, ISO 8601. */
  startedAt: string;
  /** True for the process that answers this request. */
  isThis: boolean;
  /** False once it has not reported for two minutes. */
  isAlive: boolean;
  /** State of its receiver. */
  state: string;
  /** ISO 8601. */
  reportedAt: string;
  failuresInARow: number;
  /** Handlers that run in it now. */
  running: number;
}

export interface PausedHandlerRow {
  handler: string;
  /** Since when, ISO 8601. */
  since: string;
  /** Name of the person, or `cli`. */
  by: string;
  /** Work that waits for it. */
  pending: number;
}

export interface HandlerReport {
  handlers: HandlerRow[];
}

/** A handler that is registered here, or has work in the store. */
export interface HandlerRow {
  handler: string;
  /** Null while it runs as usual. */
  paused: PausedHandlerRow | null;
  pending: number;
  times: HandlerTimesRow | null;
}

export interface HandlerBody {
  handler: string;
}

/** The longest-running first. */
export interface RunningWork {
  items: RunningRow[];
  /** True when there are more than are listed: each process reports 50. */
  hasMore: boolean;
}

export interface RunningRow {
  process: string;
  handler: string;
  eventId: string;
  /** ISO 8601. */
  since: string;
  /** In milliseconds. */
  forMs: number;
}

/**
 * The messages of the stream, by the name of the event, with JSON as their data. The browser connects again by itself;
 * a page that was away then loads its lists again.
 */
export interface StreamMessages {
  /** At once, and each second while something has changed. */
  now: DashboardNow;
  /** A step of the figures was written, or has ended while the store cannot be read: load the overview again. */
  figures: { at: string };
  /** Jobs that have changed. */
  jobs: { jobs: BulkJobRow[] };
  /** The receiver stops; the stream ends. */
  end: Record<string, never>;
}

/** Errors of work that waits for its next run, runs again, is dead or is parked, by what they have in common. */
export interface ErrorGroupPage {
  /** Those that failed last first. */
  items: ErrorGroupRow[];
  /** True when there are more groups than are listed. */
  hasMore: boolean;
  /** Start of each step of {@link ErrorGroupRow.counts}, in milliseconds since 1970. */
  times: number[];
  /** Length of a step, in milliseconds. */
  stepMs: number;
}

export interface ErrorGroupRow {
  /** Opaque, and the same for everybody; names the group in {@link WorkFilter.group}. */
  group: string;
  handler: string;
  /** Event type. */
  type: string;
  /** Name or code of the error, such as `TypeError` or `unknown_type`. */
  kind: string;
  /** Its message, with `…` in place of numbers, ids, addresses and quoted texts. */
  message: string;
  /** Events in the group; each has one piece of work in it. */
  events: number;
  /** True when there are more events than are counted. */
  isCapped: boolean;
  /** Runs of them that failed so far. */
  failures: number;
  /** How many of the events are in which state. */
  states: { pending: number; leased: number; dead: number; parked: number };
  /** The first and the last time at which one of them failed last, ISO 8601. */
  firstAt: string;
  lastAt: string;
  /** Events per step, by when they failed last, for a sparkline. */
  counts: number[];
  /** The event that failed last, with its error as it was. */
  example: { id: string; error: string | null };
}

/** Which work of events: what fits each field that is given. A job keeps it as it is. */
export interface WorkFilter {
  state?: "pending" | "leased" | "dead" | "parked" | "done" | undefined;
  handler?: string | undefined;
  type?: string | undefined;
  /** Text in the reason or the last error, in any case. */
  error?: string | undefined;
  /** ISO 8601: only events received then or later. */
  since?: string | undefined;
  /** ISO 8601: only events received before. */
  until?: string | undefined;
  /** {@link ErrorGroupRow.group}. */
  group?: string | undefined;
  /** Exactly these events, 500 at most: a selection. */
  ids?: string[] | undefined;
}

/**
 * `retry` and `discard` change work that is dead or parked; `run` makes work due now that waits for its next run. The
 * filter's `state` can be `dead` or `parked`, or is left out.
 */
export interface JobBody {
  action: JobAction;
  filter: WorkFilter;
}

/** What a job would change now. */
export interface JobPreview {
  events: number;
  /** Pieces of work. */
  work: number;
}

/** Which work a job changes. Each list of jobs has it, so it does not have the ids. */
export interface JobFilter extends Omit<WorkFilter, "ids" | "group"> {
  /** As in {@link WorkFilter}; `[hidden]` for people who could not have found it in errors as they see them. */
  error?: string | undefined;
  /** True when it is work of one group of errors; left out otherwise. */
  isGroup?: true | undefined;
  /** How many events were chosen by their ids; left out when none were. */
  chosen?: number | undefined;
}

/** A change of much work, done a small page at a time by any process on the store. */
export interface BulkJobRow {
  id: string;
  action: JobAction;
  filter: JobFilter;
  /** Name of the person. */
  by: string;
  /** ISO 8601. */
  createdAt: string;
  /** `open` until all is done; a process that dies leaves it to another one. */
  state: "open" | "done" | "cancelled" | "failed";
  /** Pieces of work that were counted when it was created. */
  total: number;
  /** Pieces that were changed. */
  done: number;
  /** Pieces that cannot be changed: their body is gone, or their handler has another body of the event. */
  skipped: number;
  /** Pieces that others had changed before the job came to them; 0 until it is done. */
  changedBefore: number;
  /** When it ended, ISO 8601; null while it is open. */
  endedAt: string | null;
  /** Why it failed; null unless it did. */
  error: string | null;
}

export interface BulkJobList {
  jobs: BulkJobRow[];
}

/** An event in the list. */
export interface DashboardEvent extends InboxEvent {
  /** When its next run is due, ISO 8601; null when none waits. */
  nextRunAt: string | null;
}

export interface DashboardEventPage {
  items: DashboardEvent[];
  nextCursor: string | null;
}

/** One event with all that is known about it. */
export interface DashboardEventDetail extends DashboardEvent, Pick<InboxEventDetail, "errors"> {
  /** When the service signed the delivery that was stored, ISO 8601. */
  signedAt: string;
  /** Oldest first. */
  timeline: TimelineEntry[];
  /** Finished steps of `ctx.step`, by handler and then oldest first; none once the body is dropped. */
  steps: ShownStep[];
  /** Those that its handlers recorded, newest first, 50 at most. */
  contactEvents: DashboardContactEvent[];
  /** Ids, as listed, of other bodies received under its id. */
  otherBytes: string[];
  payload: ShownPayload;
}

/** The payload as far as it may be shown without unveiling it. */
export interface ShownPayload {
  /** `gone`: retention has dropped it, or it was erased. `too_large`: to be redacted; it can be unveiled. */
  kind: "hidden" | "redacted" | "gone" | "too_large";
  /** Null unless `redacted`. */
  text: string | null;
  /** Of the exact bytes; null when gone. */
  bytes: number | null;
  /** True when this person may see it in full. */
  canUnveil: boolean;
}

/** The exact bytes, read as UTF-8. */
export interface UnveiledPayload {
  text: string;
}

/** The service's attempts to deliver an event, by its delivery log: before the event was stored, and after. */
export interface EventDeliveries {
  /** For the time line; oldest first. */
  attempts: TimelineEntry[];
  /** What is not known of them and why, in one line; null when the log was read. */
  note: string | null;
}

/** A contact event. Its `key` names it on the dashboard, the same for everybody. */
export interface DashboardContactEvent extends ContactEventRow {
  /** The key that is sent to the API; null for people whose `payloads` are not `full`. */
  idempotencyKey: string | null;
}

export interface DashboardContactEventPage {
  items: DashboardContactEvent[];
  nextCursor: string | null;
}

export interface DashboardContactEventDetail extends DashboardContactEvent, Pick<ContactEventDetail, "body"> {}

/** A file that the page saves. */
export interface FileText {
  name: string;
  mediaType: string;
  text: string;
}
