import { isoTime } from "../../base/iso-time.js";
import type { ErrorGroup } from "../../store/error-groups.js";

/** A group of errors for programs. */
export function groupRecord({ firstAt, lastAt, steps, ...group }: ErrorGroup): Record<string, unknown> {
  return {
    ...group,
    firstAt: isoTime(firstAt),
    lastAt: isoTime(lastAt),
    steps: steps.map(({ at, events }) => ({ at: isoTime(at), events })),
  };
}
