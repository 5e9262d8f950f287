import type { RunError } from "../store/work.js";

/** Longest error text that lists show. */
const MAX_ERROR_LENGTH = 2_000;
/** Longest error in full. */
const MAX_STACK_LENGTH = 8_000;
/** Causes behind an error, so that one that is its own cause ends. */
const MAX_CAUSES = 5;

/** What a handler threw, as the inbox keeps it. It can be anything, also a value that cannot be converted to text. */
export function describeThrown(thrown: unknown): RunError {
  const error = textOf(thrown).slice(0, MAX_ERROR_LENGTH);
  const stack = [error + framesOf(thrown), ...causesOf(thrown)].join("\nCaused by: ").slice(0, MAX_STACK_LENGTH);
  return { error, stack };
}

function textOf(error: unknown): string {
  try {
    return withMarkedLines(
      error instanceof Error ? `${error.name}: ${error.message}` : `A value that is not an Error: ${String(error)}`,
    );
  } catch {
    return "A value that cannot be shown as text.";
  }
}

/** Lines of a message that would be taken for a frame or a cause, which may be shown where messages may not. */
function withMarkedLines(text: string): string {
  return text.replaceAll(/(?<=\n)(?=[^\S\n]*at\s|Caused by:)/g, "| ");
}

/** The lines of the stack behind name and message, which may have changed since they were copied into it. */
function framesOf(error: unknown): string {
  try {
    if (!(error instanceof Error) || typeof error.stack !== "string") return "";
    const { message, stack } = error;
    const place = stack.indexOf(message);
    const behind = place === -1 ? stack : stack.slice(place + message.length);
    const start = behind.search(/\n\s+at /);
    return start === -1 ? "" : behind.slice(start);
  } catch {
    return "";
  }
}

function causesOf(error: unknown): string[] {
  const causes: string[] = [];
  let cause = causeOf(error);
  while (cause !== undefined && causes.length < MAX_CAUSES) {
    causes.push(textOf(cause).slice(0, MAX_ERROR_LENGTH) + framesOf(cause));
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
