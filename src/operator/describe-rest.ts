/* Without node: imports, since the page uses it too. */

/** What a change of much work has not changed. */
export interface RestOfWork {
  /** Pieces that cannot be changed. */
  skipped: number;
  /** Pieces that others had changed before. */
  changedBefore: number;
}

/** Why fewer pieces of work were changed than had been counted: `2 had been changed before this job came to them`. */
export function describeRest(
  { skipped, changedBefore }: RestOfWork,
  { by, format }: { by: "job" | "command"; format: (count: number) => string },
): string[] {
  return [
    ...(changedBefore === 0
      ? []
      : [`${format(changedBefore)} had been changed before this ${by} came to ${changedBefore === 1 ? "it" : "them"}`]),
    ...(skipped === 0 ? [] : [`${format(skipped)} cannot be changed, as the body is gone`]),
  ];
}
