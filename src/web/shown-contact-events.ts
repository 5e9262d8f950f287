import { findCallInFront, waitsBehind } from "../store/find-in-inbox.js";
import type { OutboxView } from "../store/outbox.js";
import type { CallInFront, ListedContactEvent } from "./api/contact-events.js";
import type { PayloadAccess } from "./api/session.js";
import type { InboxTools } from "./inbox-tools.js";

/** What shows contact events as a person may see them, with the call that keeps back those that wait. */
export function contactEventShower(
  { operator, personal }: Pick<InboxTools, "operator" | "personal">,
  rule: PayloadAccess,
): (view: OutboxView) => Promise<ListedContactEvent> {
  let reading: ReturnType<typeof findCallInFront> | undefined;
  return async (view) => {
    const inFront = view.settledAt === null ? await (reading ??= findCallInFront(operator())) : undefined;
    const behind = inFront !== undefined && waitsBehind(view, inFront) ? personal.contactEvent(inFront, rule) : null;
    return { ...personal.contactEvent(view, rule), waitsBehind: behind && callInFront(behind) };
  };
}

function callInFront({ key, name, error, dueAt }: Pick<ListedContactEvent, keyof CallInFront>): CallInFront {
  return { key, name, error: error ?? "", dueAt };
}
