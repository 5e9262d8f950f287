import { computed, signal } from "@preact/signals";
import type {
  ContactEventDetail,
  ContactEventRow,
  InboxEvent,
  InboxEventDetail,
  InboxOverview,
} from "../../dev/api/page-api.js";
import { listContactEvents, listInboxEvents, readContactEvent, readInbox, type InboxFilter } from "../api/calls.js";
import { runAction } from "../state/notice.js";
import { readParam, setParams } from "../state/address.js";
import { readEvent } from "../state/work.js";

export const overview = signal<InboxOverview | null>(null);

export const inboxEvents = signal<readonly InboxEvent[]>([]);

export const contactEventRows = signal<readonly ContactEventRow[]>([]);

/** Cursor of the next page; null on the last one. */
export const nextCursor = signal<string | null>(null);

/** Received events, or contact events to send. */
export const inboxTab = computed(() => (readParam("show") === "contact-events" ? "contact-events" : "events"));

/** The parameter of the address that names the row in the detail pane, by the list. */
const OPEN_PARAMS = { events: "event", "contact-events": "key" } as const;

/** The row in the detail pane: an event's id, or a contact event's key. Empty if the pane is closed. */
export const openRow = computed(() => readParam(OPEN_PARAMS[inboxTab.value]));

/** The open event once it is loaded. */
export const openEvent = signal<InboxEventDetail | null>(null);

/** The open contact event once it is loaded. */
export const openContactEvent = signal<ContactEventDetail | null>(null);

export const inboxState = computed(() => readParam("state"));

/** The list's filter, all in the address. Of contact events, `type` is the name. */
export const inboxFilter = computed<InboxFilter>(() => ({
  state: inboxState.value,
  type: readParam("type"),
  text: readParam("q"),
}));

/** Whether some rows are left out for their type or their text. */
export const isNarrowed = computed(() => inboxFilter.value.type !== "" || inboxFilter.value.text !== "");

export function showInbox(tab: "events" | "contact-events", state: string): void {
  clearChosenRows();
  if (tab === inboxTab.value) {
    setParams({ state, event: "", key: "" });
    return;
  }
  // A type of events is no name of contact events.
  setParams({ show: tab === "events" ? "" : tab, state, event: "", key: "", type: "", q: "" });
}

export function filterInbox(change: { type?: string; q?: string }): void {
  clearChosenRows();
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
      const page = await listContactEvents(filter, cursor);
      if (isStale()) return;
      contactEventRows.value = isMore ? [...contactEventRows.value, ...page.items] : page.items;
      nextCursor.value = page.nextCursor;
    }
  });
}

export function showRow(row: string): void {
  cursorRow.value = row;
  setParams({ [OPEN_PARAMS[inboxTab.value]]: row });
}

export function closeRow(): void {
  setParams({ [OPEN_PARAMS[inboxTab.value]]: "" });
}

/** Loads the open row; a later one is not replaced by an earlier one that comes late. */
export function loadOpenRow(): Promise<boolean> {
  const [tab, row] = [inboxTab.value, openRow.value];
  if (openEvent.value?.id !== row) openEvent.value = null;
  if (openContactEvent.value?.key !== row) openContactEvent.value = null;
  if (row === "") return Promise.resolve(true);
  const isStale = () => inboxTab.value !== tab || openRow.value !== row;
  return runAction(async () => {
    if (tab === "events") {
      const event = await readEvent(row);
      if (!isStale()) openEvent.value = event;
    } else {
      const contactEvent = await readContactEvent(row);
      if (!isStale()) openContactEvent.value = contactEvent;
    }
  });
}

/** Loads the open contact event again where no row of the list shows how it changes. */
export function followOpenContactEvent(): void {
  const isListed = contactEventRows.value.some(({ key }) => key === openRow.value);
  if (inboxTab.value === "contact-events" && openRow.value !== "" && !isListed) void loadOpenRow();
}

/** The row that keys act on while it is in sight: an event's id, or a contact event's key. */
export const cursorRow = signal("");

/** Rows selected for a common action. */
export const chosenRows = signal<ReadonlySet<string>>(new Set());

export function clearChosenRows(): void {
  chosenRows.value = new Set();
}
