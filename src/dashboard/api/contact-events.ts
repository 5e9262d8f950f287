/*
 * GET  api/outbox?state=&name=&text=&error=&since=&until=&event=&cursor= → DashboardContactEventPage
 * GET  api/outbox/{key}                        → DashboardContactEventDetail
 * POST api/outbox/retry | discard  {ids} (keys) → InboxChanges
 */
import type { ContactEventDetail, ContactEventRow } from "../../dev/api/page-api.js";

export type { InboxChanges } from "../../dev/api/page-api.js";

/** A contact event. Its `key` names it on the dashboard, the same for everybody. */
export interface DashboardContactEvent extends ContactEventRow {
  /** The key that is sent to the API; null for people whose `payloads` are not `full`. */
  idempotencyKey: string | null;
}

export interface DashboardContactEventPage {
  items: DashboardContactEvent[];
  nextCursor: string | null;
}

export interface DashboardContactEventDetail extends DashboardContactEvent, Pick<ContactEventDetail, "body"> {}
