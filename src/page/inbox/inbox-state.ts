import { computed, signal } from "@preact/signals";
import type { ContactEventRow, InboxEvent, InboxEventDetail, InboxOverview } from "../../dev/api/page-api.js";
import { changeContactEvent, listContactEvents, listInboxEvents, readInbox } from "../api/calls.js";
import { runAction, showNotice } from "../state/notice.js";
import { readParam, setParams } from "../state/address.js";
import { mayDiscard, readEvent } from "../state/work.js";
import { plural } from "../ui/format.js";

export const overview = signal<InboxOverview | null>(null);

export const inboxEvents = signal<readonly InboxEvent[]>([]);

export const contactEventRows = signal<readonly ContactEventRow[]>([]);

/** Cursor of the next page; null on the last one. */
export const nextCursor = signal<string | null>(null);

/** Id of the event in the detail pane; empty if the pane is closed. */
export const openEventId = computed(() => readParam("event"));

/** The open event once it is loaded. */
export const openEvent = signal<InboxEventDetail | null>(null);

/** Received events, or contact events to send. */
export const inboxTab = computed(() => (readParam("show") === "contact-events" ? "contact-events" : "events"));

export const inboxState = computed(() => readParam("state"));

export function showInbox(tab: "events" | "contact-events", state: string): void {
  setParams({ show: tab === "events" ? "" : tab, state, event: "" });
}

/** Reads the counts and the first page; with `isMore`, the next page only. */
export function loadInbox({ isMore = false } = {}): Promise<boolean> {
  const [tab, state] = [inboxTab.value, inboxState.value];
  const cursor = isMore ? nextCursor.value : null;
  return runAction(async () => {
    if (!isMore) overview.value = await readInbox();
    if (tab === "events") {
      const page = await listInboxEvents(state, cursor);
      if (isStale(tab, state)) return;
      inboxEvents.value = isMore ? [...inboxEvents.value, ...page.items] : page.items;
      nextCursor.value = page.nextCursor;
    } else {
      const page = await listContactEvents(state, cursor);
      if (isStale(tab, state)) return;
      contactEventRows.value = isMore ? [...contactEventRows.value, ...page.items] : page.items;
      nextCursor.value = page.nextCursor;
    }
  });
}

function isStale(tab: string, state: string): boolean {
  return tab !== inboxTab.value || state !== inboxState.value;
}

export function showEvent(id: string): void {
  setParams({ event: id });
}

export function closeEvent(): void {
  setParams({ event: "" });
}

/** Loads the open event; a later one is not replaced by an earlier one that comes late. */
export function loadEvent(id: string): Promise<boolean> {
  if (openEvent.value?.id !== id) openEvent.value = null;
  if (id === "") return Promise.resolve(true);
  return runAction(async () => {
    const event = await readEvent(id);
    if (openEventId.value === id) openEvent.value = event;
  });
}

export function changeContact(key: string, change: "retry" | "discard"): Promise<boolean> {
  return runAction(async () => {
    if (change === "discard" && !(await mayDiscard("contact event"))) return;
    reportChange(change, (await changeContactEvent(key, change)).changed);
    await loadInbox();
  });
}

function reportChange(change: "retry" | "discard", changed: number): void {
  const what = plural(changed, "piece of work", "pieces of work");
  const done = change === "retry" ? `${what} pending again` : `${what} discarded`;
  showNotice(changed === 0 ? { tone: "plain", text: "Nothing to change here" } : { tone: "good", text: done });
}
