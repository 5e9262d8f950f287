import type { WorkChoice } from "./inbox-view.js";

/** What a job does with its work: new attempts, an end without a run, or the next run at once. */
export const JOB_ACTIONS = ["retry", "discard", "run"] as const;

/** `retry` and `discard` change dead and parked work, `run` pending work that waits for its next run. */
export type JobAction = (typeof JOB_ACTIONS)[number];

/** Which work a job changes. `state` narrows `retry` and `discard` to one of both states. */
export interface JobChoice extends WorkChoice {
  /** @default all that the action can change */
  state?: "dead" | "parked" | undefined;
}

/** A change of much work, which is made a page at a time, by whichever process is there. */
export interface BulkJob {
  /** Random; says nothing. */
  id: string;
  action: JobAction;
  choice: JobChoice;
  /** Who began it, as the dashboard's `allow` named them. */
  by: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** `open`: there is work left. `failed`: see `error`. */
  state: "open" | "done" | "cancelled" | "failed";
  /** Pieces of work that fitted the choice when the job was created. */
  total: number;
  /** Pieces that were changed. */
  done: number;
  /** Pieces that could not be changed: their body is gone, or they had moved on. */
  skipped: number;
  /** When it ended, in milliseconds since 1970; undefined while it is open. */
  endedAt: number | undefined;
  /** Why it failed; undefined unless it did. */
  error: string | undefined;
}

/** Jobs over much work. What a process leaves open, any other one continues. */
export interface BulkJobs {
  /** How many pieces of work such a job would change now, and of how many events. */
  countJob(job: Pick<BulkJob, "action" | "choice">): Promise<{ events: number; work: number }>;
  /** Stores a job; {@link runJobPage} does its work. Rejects with `invalid_argument` for a choice that cannot be. */
  createJob(job: Pick<BulkJob, "action" | "choice" | "by">): Promise<BulkJob>;
  /** The newest jobs first. @default 20 of them */
  listJobs(query?: { limit?: number | undefined }): Promise<BulkJob[]>;
  /** Undefined for an unknown id. */
  getJob(id: string): Promise<BulkJob | undefined>;
  /** Ends an open job after the page under way. False when it is not open. */
  cancelJob(id: string): Promise<boolean>;
  /**
   * Changes one small page of the oldest open job that no other process is at, and notes it in the same transaction: a
   * process that dies leaves nothing half done. Resolves with the job as it is then; undefined when there is nothing to
   * do. Call it again until then, with a short pause for deliveries.
   */
  runJobPage(): Promise<BulkJob | undefined>;
}
