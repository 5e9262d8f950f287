import type { RunError } from "../store/work.js";
import { errorText, errorTextWithCause } from "./error-text.js";

/** Longest error text that lists show. */
const MAX_ERROR_LENGTH = 2_000;
/** Longest error in full. */
const MAX_STACK_LENGTH = 8_000;
/** Causes behind an error, so that one that is its own cause ends. */
const MAX_CAUSES = 5;
/** A message may hold a whole mail, so its place in a stack is looked for by its beginning, in that of the stack. */
const HEAD = { ofStack: 1_000, ofMessage: 100 };
/** Last part of a stack in which frames are looked for, if its message was changed. */
const MAX_SEARCHED = 100_000;

/** What a handler threw, as the inbox keeps it. It can be anything, also a value that cannot be converted to text. */
export function describeThrown(thrown: unknown): RunError {
  const causes = causesOf(thrown);
  const error = errorTextWithCause(thrown, causes).slice(0, MAX_ERROR_LENGTH);
  const parts = [error + framesOf(thrown), ...causes.map(describeCause)];
  const stack = parts.join("\nCaused by: ").slice(0, MAX_STACK_LENGTH);
  return { error, stack };
}

/** The lines of the stack behind name and message, which may have changed since they were copied into it. */
function framesOf(error: unknown): string {
  try {
    if (!(error instanceof Error) || typeof error.stack !== "string") return "";
    const { message, stack } = error;
    const place = stack.slice(0, HEAD.ofStack).indexOf(message.slice(0, HEAD.ofMessage));
    const isThere = place !== -1 && stack.startsWith(message, place);
    const behind = isThere ? stack.slice(place + message.length) : stack.slice(-MAX_SEARCHED);
    // Line ends are no part of the space before `at`: a run of them would be searched from each.
    const start = behind.search(/\n[^\S\n]+at /);
    return start === -1 ? "" : behind.slice(start);
  } catch {
    return "";
  }
}

const describeCause = (cause: unknown): string => errorText(cause).slice(0, MAX_ERROR_LENGTH) + framesOf(cause);

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  let cause = causeOf(error);
  while (cause !== undefined && causes.length < MAX_CAUSES) {
    causes.push(cause);
    cause = causeOf(cause);
  }
  return causes;
}

function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.cause : undefined;
  } catch {
    return undefined;
  }
}
