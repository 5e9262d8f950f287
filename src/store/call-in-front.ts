import type { InboxOperator } from "./inbox-operator.js";
import { PAGE_LIMIT } from "./inbox-view.js";
import type { OutboxView } from "./outbox.js";

/**
 * A contact event of the call that fails and so keeps back all others; undefined while none does. Calls go out one
 * after the other: the one that is being made, or else the first. That is the one recorded first, unless events of a
 * call have come back from another one.
 */
export async function findCallInFront(
  inbox: Pick<InboxOperator, "listContactEvents">,
): Promise<OutboxView | undefined> {
  // Newest first, with all events of a few calls.
  const ofCalls = (state: "running" | "retrying") => inbox.listContactEvents({ state, limit: PAGE_LIMIT.max });
  const inFront = (await ofCalls("running")).items[0] ?? (await ofCalls("retrying")).items.at(-1);
  return inFront === undefined || inFront.error === null ? undefined : inFront;
}

/** Whether a contact event waits until the call in front has ended. */
export function waitsBehind({ state, dueAt }: OutboxView, inFront: OutboxView | undefined): boolean {
  if (inFront === undefined) return false;
  // Events of one call are due together.
  return state === "pending" || (state === "retrying" && dueAt !== inFront.dueAt);
}
