import type { ContactEventRow } from "../../operator/inbox-rows.js";
import type { DashboardContactEvent } from "../../dashboard/api/contact-events.js";
import { changeContactEvents, listContactEvents, readContactEvent } from "../api/calls.js";
import type { OutboxFace } from "../outbox/outbox-face.js";
import { linkTo } from "../state/address.js";
import { inboxCounts } from "../state/inbox-counts.js";

/** The outbox as the developer's own page shows it: all of it. */
export const DEV_OUTBOX: OutboxFace = {
  list: async (filter) => {
    const { items, nextCursor } = await listContactEvents(filter);
    return { items: items.map(asShown), nextCursor };
  },
  read: async (key) => {
    const { body, ...row } = await readContactEvent(key);
    return { ...asShown(row), body };
  },
  change: changeContactEvents,
  mayOperate: () => true,
  hasContacts: () => true,
  counts: () => ({ ...inboxCounts.value?.contactEvents }),
  linkToEvent: (id) => linkTo("deliveries", { q: `work:"${id}"` }),
};

function asShown<Row extends ContactEventRow>(row: Row): Row & DashboardContactEvent {
  return { ...row, idempotencyKey: row.key, waitsBehind: null };
}
