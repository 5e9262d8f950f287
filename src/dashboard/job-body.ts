/*
 * POST api/jobs/preview  JobBody               → RunCounts: what a job would change now
 * POST api/jobs          JobBody               → BulkJob
 * GET  api/jobs                                → BulkJobList, newest first
 * POST api/jobs/{id}/cancel {}                 → BulkJob; pause and resume too
 *
 * Of a job's filter, the text in errors is only for people who see all, and nobody gets the id of the group.
 */
import type { BulkJob, JobAction } from "../store/bulk-jobs.js";
import type { WORK_FILTERS } from "../store/filters.js";
import type { EventState } from "../store/state-words.js";

/** Which work of events: what fits each field that is given, all of them texts; times are ISO 8601. */
export interface WorkFilter extends Partial<Record<keyof typeof WORK_FILTERS, string | undefined>> {
  state?: EventState | undefined;
  /** Exactly these events, at most `MAX_CHOSEN`: a selection. */
  ids?: string[] | undefined;
}

/**
 * `retry` and `discard` change work that is dead or parked; `run` makes work due now that waits for its next run. The
 * filter's `state` can be `dead` or `parked`, or is left out. Who does not see all cannot choose by a text in errors.
 */
export interface JobBody {
  action: JobAction;
  filter: WorkFilter;
}

export interface BulkJobList {
  jobs: BulkJob[];
}
