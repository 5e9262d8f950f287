import type { BulkJobRow } from "../../src/web/api/jobs.js";

/** A job over 3,000 pieces of work, all of which it has retried. */
export function jobRow(fields: Partial<BulkJobRow> = {}): BulkJobRow {
  return {
    id: "1",
    action: "retry",
    filter: {},
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
