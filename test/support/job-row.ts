import type { BulkJob, JobFilter } from "../../src/store/bulk-jobs.js";

/** Of a job over all work, apart from the fields that are given. */
export function jobFilter(fields: Partial<JobFilter> = {}): JobFilter {
  const any = { handler: null, type: null, source: null, error: null, errorGroup: null, since: null, until: null };
  return { state: null, ...any, types: null, chosen: null, ...fields };
}

/** A job over 3,000 pieces of work, all of which it has retried. */
export function jobRow(fields: Partial<BulkJob> = {}): BulkJob {
  return {
    id: "1",
    action: "retry",
    filter: jobFilter(),
    by: "ann",
    createdAt: "2026-01-01T00:00:00.000Z",
    state: "done",
    total: 3_000,
    done: 3_000,
    changedBefore: 0,
    paused: false,
    endedAt: "2026-01-01T00:00:01.000Z",
    error: null,
    ...fields,
  };
}
