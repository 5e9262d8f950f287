import { setImmediate } from "node:timers/promises";
import { isoTime } from "../base/iso-time.js";
import type { RowPage } from "../dev/api/find-rows.js";
import { eventRow } from "../dev/api/inbox-rows.js";
import type { InboxHandler } from "../dev/api/page-api.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventQuery, EventView } from "../store/inbox-view.js";
import type { PatientEventQuery } from "../store/list-windows.js";
import type { PayloadAccess } from "./api/session.js";
import type { DashboardEvent } from "./api/work.js";
import { holdsText } from "./find-shown.js";
import { MAX_REDACTED_BYTES, type PersonalData } from "./personal-data.js";

/** What shows events. */
export interface EventShowTools {
  operator: () => Pick<InboxOperator, "listEvents" | "readBodies">;
  /** Lists them. @default the operator */
  source?: Pick<InboxOperator, "listEvents">;
  personal: PersonalData;
}

/**
 * A page of events as a person may see them. For one who does not see errors as they are, `error` of the query only
 * says that there is one: {@link workWithShownError} looks for the text in what is shown.
 */
export async function listShownEvents(
  { operator, source = operator(), personal }: EventShowTools,
  query: PatientEventQuery,
  rule: PayloadAccess,
): Promise<RowPage<DashboardEvent>> {
  const { error } = query;
  const { items, nextCursor } = await source.listEvents({
    ...query,
    error: error === undefined || rule === "full" ? error : "",
  });
  const quoted = rule === "redacted" ? items.filter(hasError).map(({ id }) => id) : [];
  const bodies = await readQuotedBodies(operator(), quoted);
  const shown: DashboardEvent[] = [];
  for (const view of items) {
    const body = bodies.get(view.id);
    // Deliveries come between two bodies.
    if (body !== undefined) await setImmediate();
    shown.push(showEvent(view, personal, personal.errorsOf(body, rule)));
  }
  return { items: shown, nextCursor };
}

const hasError = ({ handlers }: EventView): boolean => handlers.some(({ error }) => error !== undefined);

/** The bodies that errors of these events are compared with, by id; without those that are too large to redact. */
export async function readQuotedBodies(
  inbox: Pick<InboxOperator, "readBodies">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  return ids.length === 0 ? new Map() : inbox.readBodies({ ids, maxBytes: MAX_REDACTED_BYTES });
}

export function showEvent(event: EventView, personal: PersonalData, show: (error: string) => string): DashboardEvent {
  const due = event.handlers.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
  return { ...personal.event(eventRow(event), show), nextRunAt: due.length === 0 ? null : isoTime(Math.min(...due)) };
}

/** The work of an event that a query chooses by what is shown of its reason and its error. */
export function workWithShownError({ handlers }: DashboardEvent, query: EventQuery): InboxHandler[] {
  const { state, handler, error } = query;
  return handlers.filter(
    (each) =>
      (state === undefined || each.state === state) &&
      (handler === undefined || each.handler === handler) &&
      (error === undefined || holdsText([each.reason, each.error], error)),
  );
}
