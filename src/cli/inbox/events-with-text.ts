import { setImmediate } from "node:timers/promises";
import { textOfEvent } from "../../dev/api/find-rows.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { EventView } from "../../store/inbox-view.js";

/** Events between two looks at Ctrl-C. */
const LOOKED_AT_ONCE = 100;

/** Which events. */
export interface TextSearch {
  inbox: Pick<InboxOperator, "getEvent">;
  text: string;
  /** Most of them. */
  limit: number;
  /** Ends the search. */
  signal: AbortSignal;
}

/** Those of the events that have the text in what a list shows of them or in the body, in any case of its letters. */
export async function* eventsWithText(
  events: AsyncIterable<EventView>,
  { inbox, text, limit, signal }: TextSearch,
): AsyncGenerator<EventView> {
  const needle = text.toLowerCase();
  const isIn = (found: string): boolean => found.toLowerCase().includes(needle);
  let looked = 0;
  let left = limit;
  for await (const event of events) {
    // A file is read without a turn of the event loop, in which Ctrl-C would be noticed.
    if (++looked % LOOKED_AT_ONCE === 0) await setImmediate(undefined, { signal });
    if (!isIn(textOfEvent(event).join("\n"))) {
      const body = (await inbox.getEvent(event.id))?.body;
      if (body === undefined || !isIn(Buffer.from(body).toString("utf8"))) continue;
    }
    yield event;
    left -= 1;
    if (left === 0) return;
  }
}
