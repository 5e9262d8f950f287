import { isPigeonholeError, PigeonholeError } from "../base/error.js";
import type { JobAction } from "../store/bulk-jobs.js";
import type { InboxOperator } from "../store/inbox-operator.js";
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

/** Changes one after the other. One that cannot be changed is counted, and does not keep the others back. */
async function changeEach(ids: readonly string[], change: (id: string) => Promise<number>): Promise<InboxChanges> {
  let changed = 0;
  let failed = 0;
  for (const id of ids) {
    try {
      changed += await change(id);
    } catch (error) {
      // Without the event, or its body, nothing can be changed on it.
      if (!isPigeonholeError(error) || (error.code !== "not_found" && error.code !== "body_dropped")) throw error;
      failed += 1;
    }
  }
  return { changed, failed };
}

/**
 * Dead ones are sent again, and those whose call waits for its next try, with all others of calls that are repeated as
 * they were, so states are read before.
 */
export async function retryEachContactEvent(inbox: InboxOperator, keys: readonly string[]): Promise<InboxChanges> {
  const retried: string[] = [];
  let waiting = 0;
  for (const key of keys) {
    const view = await inbox.getContactEvent(key);
    if (view?.state === "dead" || typeof view?.dueAt === "string") retried.push(key);
    else if (view?.state === "pending") waiting += 1;
  }
  const { changed, failed } = await changeEach(retried, async (key) => {
    const sent = await inbox.changeContactEvent("retry", key);
    if (sent > 0) return sent;
    const state = (await inbox.getContactEvent(key))?.state;
    // One before it in the list has taken it along.
    if (state !== undefined && isOpen(state)) return 0;
    throw notChanged(key);
  });
  return { changed, failed: failed + keys.length - retried.length, ...(waiting > 0 && { waiting }) };
}

/** Those that are dead, or that are not being sent yet. */
export async function discardEachContactEvent(inbox: InboxOperator, keys: readonly string[]): Promise<InboxChanges> {
  const discarded: string[] = [];
  const changes = await changeEach(keys, async (key) => {
    if ((await inbox.changeContactEvent("discard", key)) === 0) throw notChanged(key);
    discarded.push(key);
    return 1;
  });
  let mayGoOut = 0;
  // After all of them: a call ends with the discard of its last event.
  for (const key of discarded) if (typeof (await inbox.getContactEvent(key))?.call === "number") mayGoOut += 1;
  return { ...changes, mayGoOut };
}

function notChanged(key: string): PigeonholeError {
  return new PigeonholeError("not_found", `No contact event with the key "${key}" can be changed.`);
}
