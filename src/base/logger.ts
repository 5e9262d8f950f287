/** One log line: fields first, a short event name second. Pino's shape. */
export type LogLine = (fields: object, message: string) => void;

/** The part of pino that is used. Any logger with these methods works. */
export interface Logger {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
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
