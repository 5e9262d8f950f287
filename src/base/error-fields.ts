import { errorName, isErrorWord } from "./error-text.js";
import { isPigeonholeError } from "./error.js";

/** Enough frames to find the line. A whole stack would hide the other fields. */
const MAX_FRAMES = 5;

/** A stack frame names a file: `    at load (file:///app/load.js:3:7)`. */
const FRAME = /^ {1,8}at [^\n]{0,300}?[/\\][^\n]{0,700}:\d{1,7}:\d{1,7}\)?$/;

/**
 * An error as log fields. The message of an error of this package is among them, unless it may quote a value. That of
 * any other is left out unless asked for, since a handler's message often quotes the event. The inbox keeps it. Never
 * throws, whatever value was thrown.
 */
export function errorFields(error: unknown, withMessage: boolean): Record<string, unknown> {
  try {
    // Inside the try: `instanceof` can throw on a proxy.
    if (!(error instanceof Error)) return { error: typeof error };
    return {
      error: errorName(error),
      ...("code" in error && isErrorWord(error.code) ? { code: error.code } : {}),
      ...(withMessage || isPlain(error) ? { message: error.message } : {}),
      at: frames(error),
    };
  } catch {
    return { error: "unreadable" };
  }
}

function isPlain(error: Error): boolean {
  return isPigeonholeError(error) && !error.mayQuote;
}

/**
 * A message that quotes an email may have lines that look like frames ("  at noon"). Frames are searched for only after
 * the message.
 */
function frames({ message, stack }: Error): string[] {
  if (typeof stack !== "string") return [];
  const start = stack.indexOf(message);
  const behind = start === -1 ? stack : stack.slice(start + message.length);
  return behind
    .split("\n")
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim());
}
