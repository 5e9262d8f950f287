import { stripVTControlCharacters } from "node:util";
import { clockTime } from "../../dev/line-writer.js";
import type { Paint } from "../frame/output.js";

/** The levels of pino. */
const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

interface PinoLine {
  level: number;
  time: number;
  msg?: string;
  err?: { stack?: string };
  [field: string]: unknown;
}

/** A line of the app's output: a JSON line of pino as time, level, message and fields; any other unchanged. */
export function formatAppLine(line: string, paint: Paint): string {
  const parsed = readPinoLine(line);
  if (parsed === undefined) return stripVTControlCharacters(line);
  const { level, time, msg = "", err, pid: _pid, hostname: _hostname, ...fields } = parsed;
  const name = (LEVELS[level] ?? String(level)).padEnd(5);
  const shown = Object.entries(fields).map(([field, value]) => `${field}=${textOf(value)}`);
  const head = `${paint.dim(clockTime(time))}  ${paintLevel(paint, level, name)}  ${paint.bold(msg)}`;
  const stack = err?.stack === undefined ? "" : `\n${err.stack}`;
  return `${[head, ...shown].join("  ")}${stack}`;
}

function readPinoLine(line: string): PinoLine | undefined {
  if (!line.startsWith('{"level":')) return undefined;
  try {
    const parsed = JSON.parse(line) as Partial<PinoLine>;
    const isPino = typeof parsed.level === "number" && typeof parsed.time === "number";
    return isPino ? (parsed as PinoLine) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value);
}

function paintLevel(paint: Paint, level: number, name: string): string {
  if (level >= 50) return paint.red(name);
  return level >= 40 ? paint.yellow(name) : paint.dim(name);
}
