import type { Client } from "../client/call-types.js";
import type { WebhookDelivery } from "../contract/webhook-endpoint.js";
import { MAX_RETRY_SPAN_MS } from "../protocol/retry-schedule.js";
import { type KnownIds, findIds } from "../store/find-in-inbox.js";

/** An event that the service failed to deliver and that the inbox lacks. */
export interface LostEvent {
  /** Id of the event. */
  id: string;
  /** Its type; null if the delivery log does not say. */
  type: string | null;
  /** When its first failed attempt of the log began, ISO 8601; null if the log does not say. */
  firstFailedAt: string | null;
  /** HTTP status of the last failed attempt; null if there was no answer. */
  responseCode: number | null;
}

/** A lost event, and what the repair needs to know of its rows in the log. */
export interface LoggedLoss extends LostEvent {
  /** Row of the log that is replayed. */
  rowId: string;
  /** The event was fired then or later, in milliseconds since 1970; 0 when the log has only replays of it. */
  firedAfter: number;
  /** The log has an attempt that delivered it: an inbox that has lost it since may have handled it. */
  wasDelivered: boolean;
}

/** What the log has, compared with the inbox. */
export interface LogReading {
  /** Events with a failed attempt. */
  found: number;
  /** Rows that name no event. */
  unnamed: number;
  /** Those of the events that the inbox lacks, oldest first. */
  lost: LoggedLoss[];
}

/** Where to look. */
export interface LogRequest {
  client: Pick<Client, "webhooks">;
  inbox: KnownIds;
  endpointId: string;
  /** Name of the endpoint's secret. */
  source: string;
  /** Failed attempts since then, in milliseconds since 1970. */
  since: number;
  /** Attempts that failed then or later are left out, in milliseconds since 1970. @default none */
  failedBefore?: number | undefined;
  /** True: it does not matter when the events were fired. */
  atAnyTime: boolean;
  signal: AbortSignal | undefined;
}

/** Rows that are compared with the inbox at once: a page of the log. */
const PAGE = 100;

/** Reads the failed attempts of an endpoint since a time, and finds the events among them that the inbox lacks. */
export async function findLostEvents(request: LogRequest): Promise<LogReading> {
  const losses = new Losses(request.since);
  const since = new Date(request.since).toISOString();
  const until = request.failedBefore === undefined ? {} : { until: new Date(request.failedBefore).toISOString() };
  let page: WebhookDelivery[] = [];
  for await (const row of readLog(request, { status: "failed", since, ...until })) {
    page.push(row);
    if (page.length < PAGE) continue;
    await losses.add(page, request);
    page = [];
  }
  await losses.add(page, request);
  // Most attempts are delivered, so those are read only for something lost.
  if (losses.hasLost) for await (const row of readLog(request, { status: "delivered", since })) losses.addOther(row);
  // A replay, or a row that does not say what it is, may be of an event from long before.
  if (losses.hasDoubt && !request.atAnyTime)
    for await (const row of readLog(request, { until: since })) losses.addOther(row);
  return losses.reading;
}

type LogQuery = NonNullable<Parameters<Client["webhooks"]["deliveries"]>[1]>;

function readLog({ client, endpointId, signal }: LogRequest, query: LogQuery) {
  return client.webhooks.deliveries(endpointId, { ...query, limit: PAGE }, { signal });
}

/** An attempt, with its time in milliseconds since 1970. */
interface TimedAttempt {
  at: number;
  row: WebhookDelivery;
}

/** The attempts of an event that the inbox lacks. */
interface LostAttempts {
  oldest: TimedAttempt;
  newest: TimedAttempt;
  /** The oldest one, from before `since` too, that the log does not call a replay. */
  oldestSent: TimedAttempt | undefined;
  wasDelivered: boolean;
}

/** Gathers the rows by event. Of events that the inbox has, only the ids are kept. */
class Losses {
  readonly #since: number;
  readonly #known = new Set<string>();
  readonly #lost = new Map<string, LostAttempts>();
  #unnamed = 0;

  constructor(since: number) {
    this.#since = since;
  }

  get hasLost(): boolean {
    return this.#lost.size > 0;
  }

  /** True when the rows of a lost event do not say when it was fired. */
  get hasDoubt(): boolean {
    return [...this.#lost.values()].some(({ oldestSent }) => oldestSent?.row.kind !== "event");
  }

  get reading(): LogReading {
    const lost = [...this.#lost].map(([id, attempts]) => toLoss(id, attempts));
    // The log is newest first, so of two events of one time the later one is the older.
    const sorted = lost.toReversed().toSorted((a, b) => a.firedAfter - b.firedAfter);
    return { found: this.#known.size + lost.length, unnamed: this.#unnamed, lost: sorted };
  }

  async add(rows: readonly WebhookDelivery[], { inbox, source }: Pick<LogRequest, "inbox" | "source">): Promise<void> {
    const sent = rows.filter(({ kind }) => kind !== "test");
    const ids = new Set(sent.flatMap(({ eventId }) => eventId ?? []));
    const asked = [...ids].filter((id) => !this.#known.has(id) && !this.#lost.has(id));
    if (asked.length > 0) for (const id of await findIds(inbox, { source, ids: asked })) this.#known.add(id);
    for (const row of sent) {
      if (row.eventId === null) this.#unnamed += 1;
      else if (!this.#known.has(row.eventId)) this.#note(row.eventId, this.#timed(row));
    }
  }

  /** Any other row of the log: a delivered one, or one from before `since`. */
  addOther(row: WebhookDelivery): void {
    const lost = this.#lost.get(row.eventId ?? "");
    if (lost === undefined) return;
    if (row.status === "delivered") lost.wasDelivered = true;
    lost.oldestSent = olderSent(lost.oldestSent, this.#timed(row));
  }

  #timed(row: WebhookDelivery): TimedAttempt {
    const time = Date.parse(row.createdAt ?? "");
    return { at: Number.isNaN(time) ? this.#since : time, row };
  }

  #note(id: string, attempt: TimedAttempt): void {
    const lost = this.#lost.get(id) ?? { oldest: attempt, newest: attempt, oldestSent: undefined, wasDelivered: false };
    this.#lost.set(id, lost);
    lost.oldestSent = olderSent(lost.oldestSent, attempt);
    if (attempt.at < lost.oldest.at) lost.oldest = attempt;
    else if (attempt.at > lost.newest.at) lost.newest = attempt;
  }
}

/** The older of the two; a replay says nothing about when its event was fired. */
function olderSent(known: TimedAttempt | undefined, attempt: TimedAttempt): TimedAttempt | undefined {
  if (attempt.row.kind === "replay") return known;
  return known === undefined || attempt.at < known.at ? attempt : known;
}

/** The newest row is replayed, since the service may drop the oldest ones first. */
function toLoss(id: string, { oldest, newest, oldestSent, wasDelivered }: LostAttempts): LoggedLoss {
  const { id: rowId, eventType, responseCode } = newest.row;
  const firedAfter = oldestSent === undefined ? 0 : earliestFiring(oldestSent);
  return { id, type: eventType, firstFailedAt: oldest.row.createdAt, responseCode, rowId, firedAfter, wasDelivered };
}

/** Attempts before the first one of the log were made up to a whole retry schedule earlier. */
function earliestFiring({ at, row: { attempt } }: TimedAttempt): number {
  return attempt !== null && attempt <= 1 ? at : at - MAX_RETRY_SPAN_MS;
}
