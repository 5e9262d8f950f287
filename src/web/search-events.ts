import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventView } from "../store/inbox-view.js";
import type { PatientEventQuery } from "../store/list-windows.js";
import type { PayloadAccess } from "./api/session.js";
import type { ListedEvent } from "./api/work.js";
import { type RowPage, findShown, holdsText } from "./find-shown.js";
import { MAX_REDACTED_BYTES, type PersonalData } from "./personal-data.js";
import { showEvent, withoutHiddenError, workWithShownError } from "./shown-events.js";

/** What searches for events. */
export interface EventSearchTools {
  operator: () => Pick<InboxOperator, "listEvents" | "readBodies">;
  personal: Pick<PersonalData, "redacted">;
}

/** What is looked for, and for whom. */
export interface EventSearch {
  query: PatientEventQuery;
  /** In what is shown of an event and of its payload; empty for any. */
  text: string;
  rule: PayloadAccess;
}

/** A page of the events that are found, newest first. It may be short, or empty, with a cursor. */
export function searchEvents(
  { operator, personal }: EventSearchTools,
  { query, text, rule }: EventSearch,
): Promise<RowPage<ListedEvent>> {
  const payloadHoldsText = async ({ id, type, receivedAt }: EventView): Promise<boolean> => {
    if (rule === "hidden") return false;
    const body = (await operator().readBodies({ ids: [id], maxBytes: MAX_REDACTED_BYTES })).get(id);
    return body !== undefined && holdsText([personal.redacted({ id, type, receivedAt, body })], text);
  };
  return findShown({
    list: (page) => operator().listEvents(withoutHiddenError({ ...query, ...page }, rule)),
    cursor: query.cursor,
    async look(view: EventView) {
      const row = showEvent(view, rule);
      if (query.error !== undefined && workWithShownError(row, query).length === 0) return undefined;
      const { id, type, handlers } = row;
      const texts = [id, type, ...handlers.flatMap((work) => [work.handler, work.reason, work.error])];
      return holdsText(texts, text) || (await payloadHoldsText(view)) ? row : undefined;
    },
  });
}
