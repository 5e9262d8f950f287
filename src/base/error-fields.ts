/** Frames are enough to find the line; a whole stack hides the other fields. */
const MOST_FRAMES = 5;

/** A frame names a file: `    at load (file:///app/load.js:3:7)`. */
const FRAME = /^ {1,8}at [^\n]{0,300}?[/\\][^\n]{0,700}:\d{1,7}:\d{1,7}\)?$/;

/**
 * An error as log fields. The message is left out unless asked for, since a handler's message often quotes the event; the
 * inbox keeps it. Never throws, whatever was thrown.
 */
export function errorFields(error: unknown, withMessage: boolean): Record<string, unknown> {
  try {
    // Inside: a proxy can refuse to say what it is an instance of.
    if (!(error instanceof Error)) return { error: typeof error };
    return {
      error: error.name,
      ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
      ...(withMessage ? { message: error.message } : {}),
      at: frames(error),
    };
  } catch {
    return { error: "unreadable" };
  }
}

/** A message that quotes an email may have lines that look like frames ("  at noon"), so frames are sought behind it. */
function frames({ message, stack }: Error): string[] {
  if (typeof stack !== "string") return [];
  const start = stack.indexOf(message);
  const behind = start === -1 ? stack : stack.slice(start + message.length);
  return behind
    .split("\n")
    .filter((line) => FRAME.test(line))
    .slice(0, MOST_FRAMES)
    .map((line) => line.trim());
}
