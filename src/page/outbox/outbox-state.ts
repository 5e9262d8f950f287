import { computed, signal } from "@preact/signals";
import type { ListedContactEvent, WholeContactEvent } from "../../web/api/contact-events.js";
import { confirmed } from "../state/confirmed.js";
import { reportProblem, runAction, showNotice } from "../state/notice.js";
import { fetchContactEvent, fetchOutbox, postOutboxChange } from "../api/calls.js";
import { inboxCounts } from "../state/inbox-counts.js";
import { now } from "../state/now.js";
import { createPagedList } from "../state/create-paged-list.js";
import { createSelection } from "../state/create-selection.js";
import { readParam, setParams, sinceOf } from "../state/address.js";
import { plural } from "../text/format.js";

export const OUTBOX_PARAMS = ["text", "span", "event"] as const;

export const outboxList = createPagedList((cursor) =>
  fetchOutbox({
    state: readParam("state"),
    text: readParam("text"),
    inboxEventId: readParam("event"),
    since: sinceOf(readParam("span")),
    cursor,
  }),
);

/** Contact events of the whole store, by state. */
export const countOutbox = (): Partial<Record<string, number>> => ({
  ...(inboxCounts.value ?? now.value?.store)?.outbox,
});

/** Key of the contact event in the pane; empty if it is closed. */
export const openKey = computed(() => readParam("key"));

/** The open contact event once it is loaded. */
export const openOutboxEvent = signal<WholeContactEvent | null>(null);

export async function loadOpen(): Promise<void> {
  const key = openKey.value;
  if (openOutboxEvent.value?.key !== key) openOutboxEvent.value = null;
  if (key === "") return;
  try {
    const read = await fetchContactEvent(key);
    if (openKey.value !== key) return;
    openOutboxEvent.value = read;
    // An address with the key itself opens for some only: from now on it has the name that opens for everybody.
    setParams({ key: read.key });
  } catch (error) {
    reportProblem(error);
  }
}

/** The chosen contact events, by key. */
export const outboxSelection = createSelection(() => outboxList.items.value.map(({ key }) => key));

/** Sends again what is dead or waits for a next try, or discards what is not sent after a question. */
export function changeOutbox(keys: readonly string[], action: "retry" | "discard"): Promise<boolean> {
  return runAction(async () => {
    const rows = outboxRowsOf(keys);
    if (!(await mayChange(keys, action))) return;
    const { changed, failed, waiting = 0, mayGoOut = 0 } = await postOutboxChange([...keys], action);
    showNotice({ tone: "good", text: describeChange(rows, action, changed) });
    const warn = (count: number, one: string, several: string): void => {
      if (count > 0)
        showNotice({ tone: "warn", text: `${plural(count, "contact event")} ${count === 1 ? one : several}` });
    };
    const again = "out again if another of the call is retried";
    warn(mayGoOut, `may have taken effect, and goes ${again}`, `of these may have taken effect, and go ${again}`);
    const after = "after the call in front: try that one now";
    warn(waiting, `goes out by itself ${after}`, `go out by themselves ${after}`);
    const refused = "could not be changed: not in a state for it";
    warn(failed - waiting, refused, refused);
    outboxSelection.clear();
    await Promise.all([outboxList.load(), loadOpen()]);
  });
}

/** What was done, by the rows as they were before it. */
function describeChange(rows: readonly ListedContactEvent[], action: "retry" | "discard", changed: number): string {
  const what = plural(changed, "contact event");
  if (action === "discard") return `${what} discarded`;
  return rows.length > 0 && rows.every(mayTryNow) ? `${what} due now` : `${what} pending again`;
}

/** True while its call waits for its next try; one that is under way has no such time. */
export const mayTryNow = ({ state }: ListedContactEvent): boolean => state === "retrying";

/** True where it is sent again, or its call is due at once. */
export const mayRetryContact = (event: ListedContactEvent): boolean => event.state === "dead" || mayTryNow(event);

export const mayDiscardContact = ({ state }: ListedContactEvent): boolean => state === "dead" || state === "pending";

/** Asks before a discard, and before a retry that sends more than was chosen. */
function mayChange(keys: readonly string[], action: "retry" | "discard"): Promise<boolean> {
  const count = keys.length;
  const inCalls = outboxRowsOf(keys).filter(({ call }) => call !== null);
  if (action === "retry") {
    const others = countOthers(inCalls);
    if (others === 0) return Promise.resolve(true);
    return confirmed({
      title: `Retry ${plural(count + others, "contact event")}?`,
      text: `${others} that ${others === 1 ? "was" : "were"} not chosen ${others === 1 ? "is" : "are"} in the same calls. A call that may have arrived is repeated as it was, also with what was discarded.`,
      verb: "Retry",
    });
  }
  const unknown =
    inCalls.length === 0
      ? ""
      : ` ${plural(inCalls.length, "contact event")} may have taken effect, and can go out again with the rest of the call.`;
  return confirmed({
    title: count === 1 ? "Discard this contact event?" : `Discard ${count} contact events?`,
    text: `Contact events that are not sent yet are never sent.${unknown}`,
    verb: "Discard",
  });
}

/** The listed or open contact events with these keys. */
export function outboxRowsOf(keys: readonly string[]): ListedContactEvent[] {
  const open = openOutboxEvent.value;
  const known = new Map<string, ListedContactEvent>(outboxList.items.value.map((row) => [row.key, row]));
  if (open !== null) known.set(open.key, open);
  return keys.flatMap((key) => known.get(key) ?? []);
}

/** Events that go out with these because their calls are repeated as they were. */
function countOthers(rows: readonly ListedContactEvent[]): number {
  const calls = new Map(rows.map(({ call, callEvents }) => [call, callEvents ?? 0]));
  return [...calls.values()].reduce((sum, events) => sum + events, 0) - rows.length;
}
