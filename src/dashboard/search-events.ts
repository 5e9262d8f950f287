import type { RowPage } from "../dev/api/find-rows.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventView } from "../store/inbox-view.js";
import type { PatientEventQuery } from "../store/list-windows.js";
import type { DashboardEvent } from "./api/work.js";
import { findShown, holdsText } from "./find-shown.js";
import type { LoopShare } from "./loop-share.js";
import type { PersonalData } from "./personal-data.js";
import type { QuoteHider, Reader } from "./quote-hider.js";
import { showEvents, withoutHiddenError, workWithShownError } from "./shown-events.js";

/** What searches for events. */
export interface EventSearchTools {
  operator: () => InboxOperator;
  personal: PersonalData;
  quotes: QuoteHider;
  share: LoopShare;
}

/** What is looked for, and for whom. */
export interface EventSearch {
  query: PatientEventQuery;
  /** In what is shown of an event and of its payload; empty for any. */
  text: string;
  reader: Reader;
}

/** A page of the events that are found, newest first. It may be short, or empty, with a cursor. */
export function searchEvents(
  { operator, personal, quotes, share }: EventSearchTools,
  { query, text, reader }: EventSearch,
): Promise<RowPage<DashboardEvent>> {
  const redactedPayload = async (id: string): Promise<string | undefined> => {
    if (reader.rule === "hidden") return undefined;
    const event = await operator().getEvent(id);
    if (event?.body === undefined) return undefined;
    const { body } = event;
    return share.run(() => personal.redacted({ ...event, body }), reader.signal);
  };
  const isFound = async (row: DashboardEvent): Promise<boolean> => {
    if (query.error !== undefined && workWithShownError(row, query).length === 0) return false;
    return holdsText(textsOf(row), text) || holdsText([await redactedPayload(row.id)], text);
  };
  return findShown({
    list: (page) => operator().listEvents(withoutHiddenError({ ...query, ...page }, reader)),
    cursor: query.cursor,
    look: async (view: EventView) => {
      const [row] = await showEvents({ operator, personal, quotes }, [view], reader);
      return row !== undefined && (await isFound(row)) ? row : undefined;
    },
  });
}

function textsOf({ id, type, handlers }: DashboardEvent): (string | null)[] {
  return [id, type, ...handlers.flatMap(({ handler, reason, error }) => [handler, reason, error])];
}
