import { stripVTControlCharacters } from "node:util";
import { escapeControls } from "../../base/text.js";
import { clockTime } from "../../dev/lines/event-line.js";
import type { Paint } from "../frame/output.js";

/** Numbers from here on, in fields such as dueAt, are milliseconds since 1970: in 2001. */
const EARLIEST_TIME = 1e12;

/** No date is later. */
const LATEST_TIME = 8.64e15;

/** The levels of pino, from 10 in steps of 10. */
const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"];

/** Only these fields are sure to be there. */
interface PinoLine {
  level: number;
  time: number;
  [field: string]: unknown;
}

/** A line of the app's output without its colours; a JSON line of pino as time, level, message and fields. */
export function formatAppLine(line: string, paint: Paint): string {
  const parsed = readPinoLine(line);
  if (parsed === undefined) return stripVTControlCharacters(line);
  const { level, time, pid: _pid, hostname: _hostname, ...rest } = parsed;
  const text = typeof rest["msg"] === "string" ? rest["msg"] : "";
  const [stack, frames] = [framesOf(rest["err"]), placesOf(rest["at"])];
  const fields = {
    ...rest,
    msg: text === "" ? rest["msg"] : undefined,
    err: stack.length === 0 ? rest["err"] : undefined,
    at: frames.length === 0 ? rest["at"] : undefined,
  };
  const name = (LEVELS[level / 10 - 1] ?? String(level)).padEnd(5);
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${escapeControls(field)}=${textOf(field, value)}`);
  const head = `${paint.dim(clockTime(time))}  ${paintLevel(paint, level, name)}  ${paint.bold(escapeControls(text))}`;
  return [[head, ...shown].join("  "), ...[...stack, ...frames].map(escapeControls)].join("\n");
}

/** Names the failure of a handler that a line of its receiver is about. */
export function failureIn(line: string): string | undefined {
  const { msg, eventId, handler, attempt }: Partial<PinoLine> = readPinoLine(line) ?? {};
  return msg === "handler_failed" || msg === "handler_dead" ? [eventId, handler, attempt].join(" ") : undefined;
}

function readPinoLine(line: string): PinoLine | undefined {
  if (!line.startsWith('{"level":')) return undefined;
  try {
    const parsed = JSON.parse(line) as Partial<PinoLine>;
    // Some apps have pino write ISO 8601.
    const time = new Date(parsed.time ?? "").getTime();
    return typeof parsed.level === "number" && !Number.isNaN(time)
      ? { ...parsed, level: parsed.level, time }
      : undefined;
  } catch {
    return undefined;
  }
}

function framesOf(err: unknown): string[] {
  const { stack } = (err ?? {}) as { stack?: unknown };
  return typeof stack === "string" ? stack.split("\n") : [];
}

/** Says nothing of where a handler threw. */
const OWN_FRAME = /\/node_modules\/pigeonhole\//;

/** Where a handler of a receiver threw: without frames of this package, unless there are no others. */
function placesOf(at: unknown): string[] {
  if (!Array.isArray(at)) return [];
  const frames = at.filter((frame) => typeof frame === "string" && frame.startsWith("at ")) as string[];
  const others = frames.filter((frame) => !OWN_FRAME.test(frame));
  return (others.length === 0 ? frames : others).map((frame) => `    ${frame}`);
}

function textOf(field: string, value: unknown): string {
  const isTime = typeof value === "number" && value > EARLIEST_TIME && value <= LATEST_TIME;
  if (isTime && field.endsWith("At")) return new Date(value).toISOString();
  return escapeControls(typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value));
}

function paintLevel(paint: Paint, level: number, name: string): string {
  if (level >= 50) return paint.red(name);
  return level >= 40 ? paint.yellow(name) : paint.dim(name);
}
