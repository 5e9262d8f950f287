import { PigeonholeError } from "../base/error.js";
import { isoTime } from "../base/iso-time.js";
import { NOTE_HANDLER } from "../base/note-handler.js";
import { checkState } from "./list-windows.js";
import { choiceValues } from "./error-group-id.js";
import { WORK_FILTERS } from "./filters.js";
import { pageLimit, type WorkChoice } from "./inbox-view.js";
import type { WorkState } from "./state-words.js";
import type { Lease } from "./work.js";

/** What a job does with its work: new attempts, an end without a run, or the next run at once. */
export const JOB_ACTIONS = ["retry", "discard", "run"] as const;

/** What work of a job is about: a change of work, or work that is made for a handler from stored events. */
export type JobKind = JobAction | "plan";

/** `retry` and `discard` change dead and parked work, `run` pending work that waits for its next run. */
export type JobAction = (typeof JOB_ACTIONS)[number];

/** States of work, as people see them, that an action can change. */
export const CHANGED_STATES = {
  retry: ["dead", "parked"],
  discard: ["dead", "parked"],
  run: ["pending", "retrying"],
} as const satisfies Record<JobAction, readonly WorkState[]>;

/** Which work a job changes. */
export interface JobChoice extends WorkChoice {
  /** One of {@link CHANGED_STATES}. @default all that the action can change */
  state?: (typeof CHANGED_STATES)[JobAction][number] | undefined;
  /** Of `plan`: the types of the events, or patterns of them. */
  types?: readonly string[] | undefined;
}

/** In place of the text in errors by which a person chose work, once it was erased. */
export const ERASED_TEXT = "[erased]";

/** Which work a job is about, as everything shows it; null where it may be any. Times are ISO 8601. */
export interface JobFilter extends Record<keyof typeof WORK_FILTERS, string | null> {
  /** State of the work. */
  state: JobChoice["state"] | null;
  /** Of `plan`: the types of the events, or patterns of them. */
  types: readonly string[] | null;
  /** How many events were chosen by their ids. */
  chosen: number | null;
}

/** The choice of a job as its pages read it. */
export interface JobWork extends JobChoice {
  /** When the job was created: what failed since, nobody has seen who created it. */
  failedBy?: number | undefined;
  /** The time now. A failure that is noted for later was before the clock was set back. */
  readAt?: number | undefined;
}

/** A change of much work, which is made a page at a time, by whichever process is there. */
export interface BulkJob {
  /** Random; says nothing. */
  id: string;
  /** What is done to the work; `plan` makes it. */
  action: JobKind;
  /** Which work. */
  filter: JobFilter;
  /** Who began it, as the dashboard's `allow` named them. */
  by: string;
  /** ISO 8601. */
  createdAt: string;
  /** `open`: there is work left. `failed`: see `error`. */
  state: "open" | "done" | "cancelled" | "failed";
  /** While it is open, nothing of it is done until a person resumes it. */
  paused: boolean;
  /** Pieces of work that fitted the choice when the job was created. */
  total: number;
  /** Pieces that were changed. */
  done: number;
  /**
   * Pieces that did not fit any more when the job came to them: another job, a person or a run had changed them, or
   * retention had dropped them. 0 until the job is done.
   */
  changedBefore: number;
  /** When it ended, ISO 8601; null while it is open. */
  endedAt: string | null;
  /** Why it failed; null unless it did. */
  error: string | null;
}

/** What a person does with an open job. */
export const JOB_CHANGES = ["cancel", "pause", "resume"] as const;

export type JobChange = (typeof JOB_CHANGES)[number];

/** Jobs over much work. What a process leaves open, any other one continues. */
export interface BulkJobs {
  /** Stores a job; {@link runJobPage} does its work. Rejects with `invalid_argument` for a choice that cannot be. */
  createJob(job: NewJob): Promise<BulkJob>;
  /**
   * The newest jobs first. Where there are more than the limit, the oldest open ones are listed, which are worked on,
   * before the newest ended ones. @default 20 of them
   */
  listJobs(query?: { limit?: number | undefined }): Promise<BulkJob[]>;
  /** Undefined for an unknown id. */
  getJob(id: string): Promise<BulkJob | undefined>;
  /**
   * Changes an open job; false when it is not open. `cancel` ends it after the page under way. Once it is paused,
   * nothing of it is done until it is resumed; then it goes on where it was.
   */
  changeJob(change: JobChange, id: string): Promise<boolean>;
  /**
   * Changes one small page of the oldest open job that no other process is at, and notes it in
   * the same transaction: a process that dies leaves nothing half done. Resolves with the job as it is
   * then; undefined when there is nothing to do. Call it again until then, with a short pause for deliveries.
   */
  runJobPage(): Promise<BulkJob | undefined>;
}

/** A change of work that is to be a job. */
export interface NewJob extends Pick<BulkJob, "by"> {
  /** What is done to the work. */
  action: JobAction;
  /** Which work. */
  choice: JobChoice;
}

/** A job as it is stored. */
export interface JobRow<Kind extends JobKind = JobKind> {
  id: string;
  action: Kind;
  choice: string;
  by: string;
  createdAt: number;
  state: BulkJob["state"];
  position: string | null;
  total: number;
  done: number;
  endedAt: number | null;
  error: string | null;
  /** Of SQLite a number. */
  paused: boolean | number;
}

/** A job that begins. */
export function newJobRow({
  choice,
  position,
  ...job
}: Pick<JobRow, "id" | "action" | "by" | "createdAt" | "total"> & {
  choice: JobChoice;
  position?: object;
}): JobRow {
  const begin = { state: "open", done: 0, endedAt: null, error: null, paused: false } as const;
  const at = position === undefined ? null : JSON.stringify(position);
  return { ...job, ...begin, position: at, choice: JSON.stringify(choice) };
}

/** Jobs that have ended are dropped once there are so many newer ones. */
export const KEPT_JOBS = 200;

/** Jobs that a list has without a limit. */
const LISTED_JOBS = 20;

/** The option `limit` of a list of jobs. Throws `invalid_argument` for one that cannot be. */
export function jobLimit(query: { limit?: number | undefined } = {}): number {
  return pageLimit.read("limit", query.limit ?? LISTED_JOBS);
}

const CHOICE_FIELDS: readonly string[] = [...Object.keys(WORK_FILTERS), "state", "ids"];

/** Throws `invalid_argument` for an action or a choice that cannot be: a job would change other work than was meant. */
export function checkJob({ action, choice }: { action: JobKind; choice: JobChoice }): void {
  if (action === "plan" || !JOB_ACTIONS.includes(action)) {
    throw new PigeonholeError("invalid_argument", `action must be one of ${JOB_ACTIONS.join(", ")}.`);
  }
  const unknown = Object.keys(choice).find((field) => !CHOICE_FIELDS.includes(field));
  if (unknown !== undefined) {
    throw new PigeonholeError(
      "invalid_argument",
      `choice has the field ${unknown}, which no job of this version knows.`,
    );
  }
  if (choice.state !== undefined) checkState(choice.state, CHANGED_STATES[action]);
  choiceValues(choice);
}

/** Why a job cannot be done by this version; undefined for one that can. */
export function whyUnknown({ action, choice }: JobRow): string | undefined {
  try {
    checkJob({ action, choice: readChoice(choice) });
    return undefined;
  } catch (error) {
    return error instanceof PigeonholeError ? error.message : "Its choice is not JSON.";
  }
}

export function toBulkJob({ id, action, choice, by, createdAt, ...row }: JobRow): BulkJob {
  const { state, total, done, error } = row;
  // What was counted at the begin, and was not there any more at the end.
  const changedBefore = state === "done" ? Math.max(0, total - done) : 0;
  const times = { createdAt: isoTime(createdAt), endedAt: isoTime(row.endedAt) };
  const counts = { total, done, changedBefore };
  const filter = toJobFilter(readChoice(choice));
  return { id, action, filter, by, ...times, state, paused: Boolean(row.paused), ...counts, error };
}

function toJobFilter({ state, types, ids, ...choice }: JobChoice): JobFilter {
  const fields = Object.keys(WORK_FILTERS).map((name) => {
    const value = choice[name as keyof typeof WORK_FILTERS];
    return [name, typeof value === "number" ? isoTime(value) : (value ?? null)] as const;
  });
  const filters = Object.fromEntries(fields) as Record<keyof typeof WORK_FILTERS, string | null>;
  return { ...filters, state: state ?? null, types: types ?? null, chosen: ids?.length ?? null };
}

function readChoice(text: string): JobChoice {
  return JSON.parse(text) as JobChoice;
}

/** A piece of work. */
export type WorkPiece = Pick<Lease, "seq" | "handler">;

/** Before all work. */
export const BEFORE_ALL: WorkPiece = { seq: 0, handler: NOTE_HANDLER };

/** What a page of a job reads. */
export function jobWorkOf({ choice, createdAt }: JobRow, now: number): JobWork {
  return { ...readChoice(choice), failedBy: createdAt, readAt: now };
}
