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
  const inFront = views.some(waits) ? await findFailing(operator()) : undefined;
  const front = inFront === undefined ? [] : [inFront];
  const shown = await quotes.contactEvents(operator(), [...front, ...views], reader);
  const [behind = null] = shown.slice(0, front.length).map(callInFront);
  return shown.slice(front.length).map((row) => ({ ...row, waitsBehind: waits(row) ? behind : null }));
}

const waits = ({ state }: { state: string }): boolean => state === "pending";

/** Calls go out one after the other: while one fails, all others wait. */
async function findFailing(inbox: Pick<InboxOperator, "listContactEvents">): Promise<OutboxView | undefined> {
  const { items } = await inbox.listContactEvents({ state: "leased" });
  return items.find(({ error }) => error !== undefined);
}

function callInFront({ key, name, error, dueAt }: Pick<DashboardContactEvent, keyof CallInFront>): CallInFront {
  return { key, name, error: error ?? "", dueAt };
}
