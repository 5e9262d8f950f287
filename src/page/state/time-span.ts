import { DAY, HOUR } from "../../base/duration.js";

/** Choices of time for lists: how far they look back. */
export const TIME_SPANS: ReadonlyMap<string, { label: string; ms: number }> = new Map([
  ["1h", { label: "Last hour", ms: HOUR }],
  ["24h", { label: "Last 24 hours", ms: DAY }],
  ["7d", { label: "Last 7 days", ms: 7 * DAY }],
]);

export const SPAN_WORDS: ReadonlyMap<string, string> = new Map(
  [...TIME_SPANS].map(([name, { label }]) => [name, label]),
);

/** Start of the span that ends now, ISO 8601; empty for any time, and for a name that is none. */
export function sinceOf(name: string): string {
  const span = TIME_SPANS.get(name);
  return span === undefined ? "" : new Date(Date.now() - span.ms).toISOString();
}
