import { matchesPattern } from "../../protocol/event-pattern.js";
import type { AttemptRow } from "./attempt-row.js";
import type { ScheduledDelivery } from "./scheduled-delivery.js";

/** An attempt with its position in the log and its delivery. */
export interface LoggedAttempt {
  /** Increases with every row. */
  sequence: number;
  row: AttemptRow;
  delivery: ScheduledDelivery;
}

/** A filter for rows. Omitted fields match every row. */
export interface AttemptFilter {
  /** Attempts to the endpoint with this id. @default every endpoint */
  endpointId?: string | undefined;
  /** Attempts to deliver the event with this id. @default every event */
  eventId?: string | undefined;
  /** An event type, all of a group (`email.*`), or `*`. @default every type */
  type?: string | undefined;
  /** `"delivered"` for an answer of 2xx, otherwise `"failed"`. @default both */
  status?: AttemptRow["status"] | undefined;
  /** Attempts of an `"event"`, a `"test"` or a `"replay"`. @default all three */
  kind?: AttemptRow["kind"] | undefined;
  /** Attempts that began at or after this time, in milliseconds since 1970. @default the beginning */
  sinceMs?: number | undefined;
  /** Attempts that began before this time, in milliseconds since 1970. @default no end */
  untilMs?: number | undefined;
}

/** The attempts of all endpoints in the order in which they ended; the oldest are dropped. */
export class AttemptLog {
  readonly #maxRows: number;
  #rows: LoggedAttempt[] = [];
  #added = 0;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  add(row: AttemptRow, delivery: ScheduledDelivery): void {
    this.#added += 1;
    this.#rows.push({ sequence: this.#added, row, delivery });
    // Several at a time, since each removal moves all rows.
    if (this.#rows.length > this.#maxRows * 1.1) this.#rows = this.#rows.slice(-this.#maxRows);
  }

  list(filter: AttemptFilter = {}): LoggedAttempt[] {
    return this.#rows.filter(({ row }) => matchesFilter(row, filter));
  }

  find(endpointId: string, rowId: string): LoggedAttempt | undefined {
    return this.#rows.find(({ row }) => row.id === rowId && row.endpointId === endpointId);
  }

  /** An endpoint's log is deleted with it. See docs/service.md#endpoint-deletion. */
  deleteEndpoint(endpointId: string): void {
    this.#rows = this.#rows.filter(({ row }) => row.endpointId !== endpointId);
  }

  clear(): void {
    this.#rows = [];
  }
}

/** True if the row matches the filter. */
export function matchesFilter(row: AttemptRow, filter: AttemptFilter): boolean {
  return (
    (filter.endpointId === undefined || row.endpointId === filter.endpointId) &&
    (filter.eventId === undefined || row.eventId === filter.eventId) &&
    (filter.type === undefined || matchesPattern(filter.type, row.eventType)) &&
    (filter.status === undefined || row.status === filter.status) &&
    (filter.kind === undefined || row.kind === filter.kind) &&
    (filter.sinceMs === undefined || Date.parse(row.createdAt) >= filter.sinceMs) &&
    (filter.untilMs === undefined || Date.parse(row.createdAt) < filter.untilMs)
  );
}
