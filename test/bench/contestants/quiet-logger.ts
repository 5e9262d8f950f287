/** A pino-like logger that drops everything but errors, which would spoil a measurement and so go to stderr. */
export interface QuietLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): QuietLogger;
}

export const quietLogger: QuietLogger = {
  debug() {},
  info() {},
  warn() {},
  error(fields, message) {
    process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  },
  child: () => quietLogger,
};
