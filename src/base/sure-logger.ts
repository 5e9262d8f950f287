import { escapeControls } from "./escape-controls.js";
import type { LogLine, Logger } from "./logger.js";

/**
 * The user's logger for the receiver's own lines: one whose destination is closed or broken may throw, and that must change no answer,
 * lose no settlement and end no process. Ids and types of events have their control characters spelled out. Children are the user's own, since handlers get them as `ctx.log`.
 */
export function makeSureLogger(logger: Logger): Logger {
  return {
    debug: (fields, message) => write(() => logger.debug(printable(fields), message)),
    info: (fields, message) => write(() => logger.info(printable(fields), message)),
    warn: (fields, message) => write(() => logger.warn(printable(fields), message)),
    error: (fields, message) => write(() => logger.error(printable(fields), message)),
    child: (fields) => logger.child(printable(fields)),
  };
}

/** Fields that hold text of the sender. */
const SENT_FIELDS = ["eventId", "eventType"] as const;

/** Loggers that write for a terminal would print a control character of an event's id as it is. */
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
    // There is nobody left to tell.
  }
}
