import { errorKeyOf } from "./error-kind.js";

/** The first errors of so many events of a group are read: the oldest, and others spread over all that failed again. */
export const SOUGHT_FIRST = 20;

/** So much of a kept error is read: its kind is told by as much. */
export const FIRST_LENGTH = 1_000;

/** The first failure of an event that is kept. */
export interface FirstFailure {
  /** When it was, in milliseconds since 1970. */
  at: number;
  /** The begin of the error in full. */
  stack: string;
}

/** Frames and causes; lines of a message that look like them are marked. */
const BEHIND_ERROR = /\n[^\S\n]*at\s|\nCaused by: /;

/** When the first of these failed as the group does; undefined when all failed another way first. */
export function firstTimeIn(groupKey: string, failures: readonly FirstFailure[]): number | undefined {
  const inOrder = failures.toSorted((one, other) => one.at - other.at);
  return inOrder.find(({ stack }) => keyOfStack(stack) === groupKey)?.at;
}

function keyOfStack(stack: string): string {
  const [error] = stack.split(BEHIND_ERROR, 1);
  return errorKeyOf({ isParked: false, error });
}
