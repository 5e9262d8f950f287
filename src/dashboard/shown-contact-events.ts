import { findCallInFront, waitsBehind } from "../store/call-in-front.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { OutboxView } from "../store/outbox.js";
import type { CallInFront, DashboardContactEvent } from "./api/contact-events.js";
import type { QuoteHider, Reader } from "./quote-hider.js";

/** What shows contact events. */
export interface ContactEventShowTools {
  operator: () => Pick<InboxOperator, "listContactEvents" | "readCalls">;
  quotes: QuoteHider;
}

/** Contact events as a person may see them, with the call that keeps back those that wait. */
export async function showContactEvents(
  { operator, quotes }: ContactEventShowTools,
  views: readonly OutboxView[],
  reader: Reader,
): Promise<DashboardContactEvent[]> {
  const inFront = views.some(isOpen) ? await findCallInFront(operator()) : undefined;
  const front = inFront === undefined ? [] : [inFront];
  const shown = await quotes.contactEvents(operator(), [...front, ...views], reader);
  const [behind = null] = shown.slice(0, front.length).map(callInFront);
  const rows = shown.slice(front.length);
  return views.flatMap((view, index) => {
    const row = rows[index];
    return row === undefined ? [] : [{ ...row, waitsBehind: waitsBehind(view, inFront) ? behind : null }];
  });
}

const isOpen = ({ state }: OutboxView): boolean => state === "pending" || state === "leased";

function callInFront({ key, name, error, dueAt }: Pick<DashboardContactEvent, keyof CallInFront>): CallInFront {
  return { key, name, error: error ?? "", dueAt };
}
