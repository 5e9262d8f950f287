import { NOTE_HANDLER } from "../base/note-handler.js";

/* Without node: imports, since the page uses it too. */

/** How often a handler has run on an event. */
interface Attempts {
  attempts: number;
  /** Null or undefined where it is not known. */
  maxAttempts: number | null | undefined;
}

/** One handler's work on an event, as an inbox or the dev server's page has it. */
interface Work extends Attempts {
  /** Empty for the note of an event that was not understood. */
  handler: string;
  state: string;
  reason?: string | null | undefined;
  error?: string | null | undefined;
  retryRequestedAt?: string | null | undefined;
}

/** Such as `Handler crm is dead: do_not_retry: no such customer`. */
export function describeWork(work: Work): string {
  const { handler, reason, error } = work;
  const what = handler === NOTE_HANDLER ? "The event" : `Handler ${handler}`;
  const because = [reason, error].filter((text) => typeof text === "string").join(": ");
  return `${what} is ${describeState(work)}${because === "" ? "." : `: ${because}`}`;
}

function describeState(work: Work): string {
  const { state, retryRequestedAt } = work;
  if (state === "retrying") return describeRetry(work);
  return typeof retryRequestedAt === "string" ? `${state}, and waits to be read again` : state;
}

/** Such as `retrying, 3 of 14 attempts, next at 14:03`; `nextAt` is as its reader wants it. */
export function describeRetry(work: Attempts, nextAt: string | null = null): string {
  return `retrying, ${describeAttempts(work)}${nextAt === null ? "" : `, next at ${nextAt}`}`;
}

/** Such as `3 of 14 attempts`, or as {@link countAttempts} where the second number is missing. */
export function describeAttempts(work: Attempts): string {
  const count = countAttempts(work);
  return hasMost(work) ? `${count} ${work.maxAttempts === 1 ? "attempt" : "attempts"}` : count;
}

/** Such as `3 of 14`; `16 attempts` where runs that do not count, such as those of a stop, are among them. */
export function countAttempts(work: Attempts): string {
  const { attempts, maxAttempts } = work;
  if (hasMost(work)) return `${attempts} of ${maxAttempts}`;
  return `${attempts} attempt${attempts === 1 ? "" : "s"}`;
}

function hasMost({ attempts, maxAttempts }: Attempts): boolean {
  return typeof maxAttempts === "number" && attempts <= maxAttempts;
}
