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

/** `340 ms`, `4.2 s`, `12 min`: how long something took. */
export function formatTook(ms: number): string {
  return ms < 1000 ? formatMs(ms) : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

export function formatCount(value: number): string {
  return count.format(value);
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}
