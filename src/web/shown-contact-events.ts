import { findCallInFront, waitsBehind } from "../store/find-in-inbox.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { OutboxView } from "../store/outbox.js";
import type { CallInFront, ListedContactEvent } from "./api/contact-events.js";
import type { PayloadAccess } from "./api/session.js";
import type { PersonalData } from "./personal-data.js";

/** What shows contact events. */
export interface ContactEventShowTools {
  operator: () => Pick<InboxOperator, "listContactEvents">;
  personal: PersonalData;
}

/** Contact events as a person may see them, with the call that keeps back those that wait. */
export async function showContactEvents(
  { operator, personal }: ContactEventShowTools,
  views: readonly OutboxView[],
  rule: PayloadAccess,
): Promise<ListedContactEvent[]> {
  const inFront = views.some(isOpen) ? await findCallInFront(operator()) : undefined;
  const behind = inFront === undefined ? null : callInFront(personal.contactEvent(inFront, rule));
  return views.map((view) => ({
    ...personal.contactEvent(view, rule),
    waitsBehind: waitsBehind(view, inFront) ? behind : null,
  }));
}

const isOpen = ({ settledAt }: OutboxView): boolean => settledAt === null;

function callInFront({ key, name, error, dueAt }: Pick<ListedContactEvent, keyof CallInFront>): CallInFront {
  return { key, name, error: error ?? "", dueAt };
}
