import { DAY, HOUR, MINUTE, SECOND } from "../../base/duration.js";
import { escapeControls } from "../../base/text.js";

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const count = new Intl.NumberFormat("en");

/** `14:02:11` today, `Nov 20 14:02:11` before. Of an ISO text, or of milliseconds since 1970. */
export function formatTime(value: string | number): string {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return String(value);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday ? clock.format(time) : `${day.format(time)} ${clock.format(time)}`;
}

export function formatExactTime(value: string | number): string {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return String(value);
  return `${exact.format(time)} · ${typeof value === "number" ? time.toISOString() : value}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${formatCount(Number((bytes / 1_000_000_000).toFixed(1)))} GB`;
}

export function formatMs(ms: number | null): string {
  if (ms === null) return "";
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const UNITS = [
  [DAY, "d"],
  [HOUR, "h"],
  [MINUTE, "min"],
  [SECOND, "s"],
] as const;

/** `0 s`, `12 s`, `5 min`, `3.5 h`, `2 d`: a wait, or how old something is, rounded. */
export function formatSpan(ms: number): string {
  const [unitMs, unit] = UNITS.find(([each]) => ms >= each) ?? [SECOND, "s"];
  const value = Math.max(0, ms / unitMs);
  return `${Number(value.toFixed(value < 10 && unitMs > MINUTE ? 1 : 0))} ${unit}`;
}

export function formatCount(value: number): string {
  return count.format(value);
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

/** More than anybody reads on one line; to lay out megabytes takes seconds. */
const SHOWN = 300;

/** Untrusted text for one line: its beginning, with control characters as signs. */
export function shortText(text: string): string {
  return text.length > SHOWN ? `${escapeControls(text.slice(0, SHOWN))}…` : escapeControls(text);
}
