import type { LogLine, Logger } from "./logger.js";

/**
 * The user's logger for the receiver's own lines: one whose destination is closed or broken may throw, and that must change no answer,
 * lose no settlement and end no process. Children are the user's own, since handlers get them as `ctx.log`.
 */
export function makeSureLogger(logger: Logger): Logger {
  return {
    debug: (fields, message) => write(() => logger.debug(fields, message)),
    info: (fields, message) => write(() => logger.info(fields, message)),
    warn: (fields, message) => write(() => logger.warn(fields, message)),
    error: (fields, message) => write(() => logger.error(fields, message)),
    child: (fields) => logger.child(fields),
  };
}

function write(line: () => ReturnType<LogLine>): void {
  try {
    line();
  } catch {
    // There is nobody left to tell.
  }
}
