import { pino } from "pino";

export interface LogLine extends Record<string, unknown> {
  level: number;
  msg: string;
}

/** Pino at its most talkative, kept in memory. */
export function captureLog() {
  const lines: LogLine[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });
  return { logger, lines, named: (msg: string) => lines.filter((line) => line.msg === msg) };
}
