import { computed, signal } from "@preact/signals";
import type {
  ContactEventRow,
  InboxChange,
  InboxEvent,
  InboxEventDetail,
  InboxOverview,
} from "../../dev/api/page-api.js";
import {
  changeContactEvent,
  changeInboxEvent,
  listContactEvents,
  listInboxEvents,
  readInbox,
  readInboxEvent,
} from "../api/calls.js";
import { runAction, showNotice } from "../state/notice.js";
import { readParam, setParams } from "../state/address.js";
import { confirmed } from "../state/confirmed.js";
import { plural } from "../ui/format.js";

export const overview = signal<InboxOverview | null>(null);

export const inboxEvents = signal<readonly InboxEvent[]>([]);

export const contactEventRows = signal<readonly ContactEventRow[]>([]);

/** Cursor of the next page; null on the last one. */
export const nextCursor = signal<string | null>(null);

export const openEvent = signal<InboxEventDetail | null>(null);

/** Received events, or contact events to send. */
export const inboxTab = computed(() => (readParam("show") === "contact-events" ? "contact-events" : "events"));

export const inboxState = computed(() => readParam("state"));

export function showInbox(tab: "events" | "contact-events", state: string): void {
  openEvent.value = null;
  setParams({ show: tab === "events" ? "" : tab, state });
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

export function showEvent(id: string): Promise<boolean> {
  return runAction(async () => {
    openEvent.value = await readInboxEvent(id);
  });
}

export function changeEvent(id: string, change: "retry" | "discard"): Promise<boolean> {
  return runAction(async () => {
    if (change === "discard" && !(await mayDiscard("event"))) return;
    reportChange(change, await changeInboxEvent(id, change));
    await loadInbox();
    if (openEvent.value?.id === id) await showEvent(id);
  });
}

export function changeContact(key: string, change: "retry" | "discard"): Promise<boolean> {
  return runAction(async () => {
    if (change === "discard" && !(await mayDiscard("contact event"))) return;
    reportChange(change, await changeContactEvent(key, change));
    await loadInbox();
  });
}

function mayDiscard(what: string): Promise<boolean> {
  return confirmed({
    title: `Discard this ${what}?`,
    text: "Its unfinished work is discarded permanently. What is done stays done.",
    verb: "Discard",
  });
}

const READ_AGAIN = {
  now: "The running app reads the event again",
  at_start: "The app reads the event again when it next starts",
} as const;

function reportChange(change: "retry" | "discard", { changed, readAgain }: InboxChange): void {
  if (readAgain !== undefined) {
    showNotice({ tone: readAgain === "now" ? "good" : "plain", text: READ_AGAIN[readAgain] });
    return;
  }
  const what = plural(changed, "piece of work", "pieces of work");
  const done = change === "retry" ? `${what} pending again` : `${what} discarded`;
  showNotice(changed === 0 ? { tone: "plain", text: "Nothing to change here" } : { tone: "good", text: done });
}
