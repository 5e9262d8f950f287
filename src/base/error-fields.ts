/** Frames are enough to find the line; a whole stack hides the other fields. */
const MOST_FRAMES = 5;

/**
 * An error as log fields. The message is left out unless asked for, since a handler's message often quotes the event; the
 * inbox keeps it.
 */
export function errorFields(error: unknown, withMessage: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return {
    error: error.name,
    ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
    ...(withMessage ? { message: error.message } : {}),
    at: frames.slice(0, MOST_FRAMES).map((line) => line.trim()),
  };
}
