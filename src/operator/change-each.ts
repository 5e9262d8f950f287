import type { JobAction } from "../store/bulk-jobs.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { OutboxView } from "../store/outbox.js";
import { isOpen } from "../store/state-words.js";

/** What a change of work did. */
export interface InboxChange {
  /** Pieces of work. */
  changed: number;
  /** When an event that was not understood is read again; missing where none is. */
  readAgain?: "now" | "at_start";
}

/** What a change of several contact events did. */
export interface InboxChanges {
  /** Those that were changed; of a retry, with all others of the calls that are repeated. */
  changed: number;
  /** Those that are not there any more, or in another state. */
  failed: number;
  /** Of `failed` of a retry: contact events that wait for their turn, behind the call in front. */
  waiting?: number;
  /** Contact events that were discarded and go out again when another of their call is retried. */
  mayGoOut?: number;
}

/** Changes the work of one event, and says when one is read again that was not understood. */
export async function changeOne(inbox: InboxOperator, action: JobAction, id: string): Promise<InboxChange> {
  const { work, readAgain } = await inbox.changeEvent(action, id);
  if (readAgain === 0) return { changed: work };
  return { changed: readAgain, readAgain: (await inbox.hasReceiver()) ? "now" : "at_start" };
}

/**
 * Dead ones are sent again, and those whose call waits for its next try, with all others of calls that are repeated as
 * they were, so states are read before.
 */
export async function retryEachContactEvent(inbox: InboxOperator, keys: readonly string[]): Promise<InboxChanges> {
  const views: OutboxView[] = [];
  for (const key of keys) {
    const view = await inbox.getContactEvent(key);
    if (view !== undefined) views.push(view);
  }
  const isTried = ({ state, dueAt }: OutboxView): boolean => state === "dead" || dueAt !== null;
  const waiting = views.filter((view) => view.state === "pending" && !isTried(view)).length;
  const tried = views.filter(isTried);
  let [changed, failed] = [0, keys.length - tried.length];
  for (const { key } of tried) {
    const sent = await inbox.changeContactEvent("retry", key);
    changed += sent;
    // One before it in the list may have taken it along.
    if (sent === 0 && !isOpen((await inbox.getContactEvent(key))?.state ?? "")) failed += 1;
  }
  return { changed, failed, ...(waiting > 0 && { waiting }) };
}

/** Those that are dead, or that are not being sent yet. */
export async function discardEachContactEvent(inbox: InboxOperator, keys: readonly string[]): Promise<InboxChanges> {
  const discarded: string[] = [];
  for (const key of keys) if ((await inbox.changeContactEvent("discard", key)) > 0) discarded.push(key);
  let mayGoOut = 0;
  // After all of them: a call ends with the discard of its last event.
  for (const key of discarded) if (typeof (await inbox.getContactEvent(key))?.call === "number") mayGoOut += 1;
  return { changed: discarded.length, failed: keys.length - discarded.length, mayGoOut };
}
