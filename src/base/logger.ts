import { escapeControls } from "./text.js";

/** One log line: fields first, a short event name second. Pino's shape. */
export type LogLine = (fields: object, message: string) => void;

/** The part of pino that is used. Any logger with these methods works. */
export interface Logger {
  /** Details for someone who looks for a fault. */
  debug: LogLine;
  /** What happened as expected. */
  info: LogLine;
  /** What may need attention. */
  warn: LogLine;
  /** What needs an operator; every alarm is such a line. */
  error: LogLine;
  /** A logger that adds these fields to each of its lines. */
  child(fields: Record<string, unknown>): Logger;
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

/**
 * Wraps the user's logger for the receiver's own lines. A logger with a closed or broken destination may throw. That
 * must not change an answer, lose a settlement or end the process. Control characters in ids and types of events are
 * escaped. Children are those of the user's logger, since handlers get them as `ctx.log`.
 */
export function makeSafeLogger(logger: Logger): Logger {
  return {
    debug: (fields, message) => write(() => logger.debug(printable(fields), message)),
    info: (fields, message) => write(() => logger.info(printable(fields), message)),
    warn: (fields, message) => write(() => logger.warn(printable(fields), message)),
    error: (fields, message) => write(() => logger.error(printable(fields), message)),
    child: (fields) => logger.child(printable(fields)),
  };
}

/** Fields that hold text from the sender. */
const SENT_FIELDS = ["eventId", "eventType"] as const;

/** A logger that writes to a terminal would print a control character of an event's id unescaped. */
function printable<Fields extends object>(fields: Fields): Fields {
  let safe = fields;
  for (const name of SENT_FIELDS) {
    const value: unknown = name in fields ? fields[name as keyof Fields] : undefined;
    if (typeof value !== "string") continue;
    const escaped = escapeControls(value);
    if (escaped !== value) safe = { ...safe, [name]: escaped };
  }
  return safe;
}

function write(line: () => ReturnType<LogLine>): void {
  try {
    line();
  } catch {
    // A failed logger has nowhere to report to.
  }
}
