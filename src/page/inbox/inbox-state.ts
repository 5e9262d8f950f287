import { computed, signal } from "@preact/signals";
import type { ContactEventRow, InboxEvent, InboxEventDetail, InboxOverview } from "../../dev/api/page-api.js";
import {
  changeContactEvent,
  changeInboxEvents,
  listContactEvents,
  listInboxEvents,
  readInbox,
  type InboxFilter,
} from "../api/calls.js";
import { runAction, showNotice } from "../state/notice.js";
import { readParam, setParams } from "../state/address.js";
import { mayDiscard, readEvent, readWork } from "../state/work.js";
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

/** The list's filter, all in the address. */
export const inboxFilter = computed<InboxFilter>(() => ({
  state: inboxState.value,
  type: readParam("type"),
  text: readParam("q"),
}));

/** Whether some events are left out for their type or their text. */
export const isNarrowed = computed(() => inboxFilter.value.type !== "" || inboxFilter.value.text !== "");

export function showInbox(tab: "events" | "contact-events", state: string): void {
  clearChosenEvents();
  setParams({ show: tab === "events" ? "" : tab, state, event: "" });
}

export function filterInbox(change: { type?: string; q?: string }): void {
  clearChosenEvents();
  setParams(change);
}

/** Changes with what is listed, and not with what else is in the address. */
export function inboxKey(): string {
  return JSON.stringify([inboxTab.value, inboxFilter.value]);
}

/** Reads the counts and the first page; with `isMore`, the next page only. */
export function loadInbox({ isMore = false } = {}): Promise<boolean> {
  const tab = inboxTab.value;
  const filter = inboxFilter.value;
  const key = inboxKey();
  const cursor = isMore ? nextCursor.value : null;
  const isStale = () => inboxKey() !== key;
  return runAction(async () => {
    if (!isMore) overview.value = await readInbox();
    if (tab === "events") {
      const page = await listInboxEvents(filter, cursor);
      if (isStale()) return;
      inboxEvents.value = isMore ? [...inboxEvents.value, ...page.items] : page.items;
      nextCursor.value = page.nextCursor;
    } else {
      const page = await listContactEvents(filter.state, cursor);
      if (isStale()) return;
      contactEventRows.value = isMore ? [...contactEventRows.value, ...page.items] : page.items;
      nextCursor.value = page.nextCursor;
    }
  });
}

export function showEvent(id: string): void {
  cursorEventId.value = id;
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

/** The row that keys act on. */
export const cursorEventId = signal("");

/** Events selected for a common action. */
export const chosenEvents = signal<ReadonlySet<string>>(new Set());

export function moveEventCursor(step: number): void {
  const rows = inboxEvents.value;
  const index = rows.findIndex(({ id }) => id === cursorEventId.value);
  const next = rows[Math.min(rows.length - 1, Math.max(0, index + step))];
  if (next === undefined) return;
  cursorEventId.value = next.id;
  if (openEventId.value !== "") setParams({ event: next.id });
}

export function toggleChosenEvent(id: string): void {
  const next = new Set(chosenEvents.value);
  if (!next.delete(id)) next.add(id);
  chosenEvents.value = next;
  cursorEventId.value = id;
}

export function chooseAllEvents(): void {
  chosenEvents.value = new Set(inboxEvents.value.map(({ id }) => id));
}

export function clearChosenEvents(): void {
  chosenEvents.value = new Set();
}

/** The events that a command acts on: the selected ones, or the open one, or the one at the cursor. */
export function targetEvents(): string[] {
  if (chosenEvents.value.size > 0) return [...chosenEvents.value];
  const id = openEventId.value === "" ? cursorEventId.value : openEventId.value;
  return id === "" ? [] : [id];
}

/** Retries dead and parked work of the events, or discards their unfinished work after a question. */
export function changeEvents(ids: readonly string[], change: "retry" | "discard"): Promise<boolean> {
  return runAction(async () => {
    if (ids.length === 0) return;
    const what = ids.length === 1 ? "event" : `unfinished work of ${ids.length} events`;
    if (change === "discard" && !(await mayDiscard(what))) return;
    const { changed, failed } = await changeInboxEvents([...ids], change);
    reportChange(change, changed);
    if (failed > 0) {
      showNotice({ tone: "warn", text: `${plural(failed, "event")} could not be changed: gone, or without a body` });
    }
    clearChosenEvents();
    await loadInbox();
    if (openEventId.value !== "") await readWork(openEventId.value);
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
