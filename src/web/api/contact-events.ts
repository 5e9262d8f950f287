/*
 * GET  api/outbox?state=&name=&text=&error=&since=&until=&inboxEventId=&cursor= → RowPage<ListedContactEvent>
 * GET  api/outbox/{key}                        → WholeContactEvent
 * POST api/outbox/retry | discard  {ids} (keys) → InboxChanges
 */
import type { ContactEventRow, OutboxView } from "../../store/outbox.js";

/** A contact event. Its `key` names it on the dashboard, the same for everybody. */
export interface ListedContactEvent extends ContactEventRow {
  /** The key that is sent to the API; null for people whose `payloads` are not `full`. */
  idempotencyKey: string | null;
  /** What keeps one back that is `pending`: the call in front that fails; null without, and in other states. */
  waitsBehind: CallInFront | null;
}

/** A call that has failed and is tried again before any other, by the newest of its contact events. */
export interface CallInFront {
  /** {@link ListedContactEvent.key} of that contact event. */
  key: string;
  name: string;
  /** Error of the last try, as far as the person may see it. */
  error: string;
  /** When it is tried next, ISO 8601; null while a try is under way. */
  dueAt: string | null;
}

export interface WholeContactEvent extends ListedContactEvent, Pick<OutboxView, "body"> {}
