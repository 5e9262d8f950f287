import type { FailedRun, FailedRuns } from "./inbox-view.js";

/** A kept error as the database has it. */
export interface FailedRunRow extends Pick<FailedRun, "attempt" | "stack"> {
  /** Null in rows of older versions. */
  at: number | null;
}

/** The runs of one handler on one event, in their order; undefined without any. */
export function toFailedRuns(rows: readonly FailedRunRow[]): FailedRuns | undefined {
  const [first] = rows;
  const last = rows.at(-1);
  return first === undefined || last === undefined ? undefined : { first: toRun(first), last: toRun(last) };
}

function toRun({ attempt, stack, at }: FailedRunRow): FailedRun {
  return { attempt, stack, at: at ?? undefined };
}
