import { splitTerms } from "./search-terms.js";

/** A part of time, in milliseconds since 1970: `from` belongs to it, `to` does not. */
export interface TimeRange {
  from: number;
  to: number;
}

/** Whether the query has a time after which, or before which, deliveries are listed. */
export function hasTimeRange(query: string): boolean {
  return splitTerms(query).some(isTimeTerm);
}

/** The query for any time. */
export function withoutTimeRange(query: string): string {
  return splitTerms(query)
    .filter((term) => !isTimeTerm(term))
    .join(" ");
}

/** The query for this time only. */
export function withTimeRange(query: string, { from, to }: TimeRange): string {
  return `${withoutTimeRange(query)} after:${writeTime(from)} before:${writeTime(to)}`.trimStart();
}

function isTimeTerm(term: string): boolean {
  return /^(?:after|before):/.test(term);
}

/** Without milliseconds that are 0, since the term is read by people too. */
function writeTime(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}
