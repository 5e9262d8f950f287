/*
 * POST api/jobs/preview  JobBody               → JobPreview
 * POST api/jobs          JobBody               → BulkJobRow
 * GET  api/jobs                                → BulkJobList, newest first
 * POST api/jobs/{id}/cancel {}                 → BulkJobRow; pause and resume too
 */
import type { BulkJob, JobAction, JobChange } from "../../store/bulk-jobs.js";
import type { WorkFilter } from "./work.js";

export type { JobAction, JobChange };

/** What is done to a job. */
export const JOB_CHANGES: readonly JobChange[] = ["cancel", "pause", "resume"];

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
export interface JobFilter extends Omit<WorkFilter, "ids" | "errorGroup"> {
  /** As in {@link WorkFilter}; `[hidden]` for people who could not have found it in errors as they see them. */
  error?: string | undefined;
  /** True when there was such a text and it was erased; left out otherwise. */
  isErrorErased?: true | undefined;
  /** True when it is work of one group of errors; left out otherwise. */
  isGroup?: true | undefined;
  /** Of a history, types of events and patterns of them; left out otherwise. */
  types?: readonly string[] | undefined;
  /** How many events were chosen by their ids; left out when none were. */
  chosen?: number | undefined;
}

/** A job with its choice as the person may see it. */
export interface BulkJobRow extends Omit<BulkJob, "choice"> {
  filter: JobFilter;
}

export interface BulkJobList {
  jobs: BulkJobRow[];
}
