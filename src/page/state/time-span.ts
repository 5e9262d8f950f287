import { DAY, HOUR } from "../../base/duration.js";

/** Choices of time for lists: how far they look back. */
export const TIME_SPANS = [
  { name: "", label: "Any time", ms: null },
  { name: "1h", label: "Last hour", ms: HOUR },
  { name: "24h", label: "Last 24 hours", ms: DAY },
  { name: "7d", label: "Last 7 days", ms: 7 * DAY },
] as const;

/** Start of the span that ends now, ISO 8601; empty for any time, and for a name that is none. */
export function sinceOf(name: string): string {
  const ms = TIME_SPANS.find((span) => span.name === name)?.ms ?? null;
  return ms === null ? "" : new Date(Date.now() - ms).toISOString();
}
