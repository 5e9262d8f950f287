import { changeContactEvents, changeInboxEvents } from "../api/calls.js";
import { runAction, showNotice } from "../state/notice.js";
import type { WorkChange } from "../../dev/api/page-api.js";
import { followChange, readWaiting } from "../state/run-again.js";
import { mayDiscard, mayRetry, mayRunNow, readWork } from "../state/work.js";
import { plural } from "../ui/format.js";
import {
  chosenRows,
  clearChosenRows,
  contactEventRows,
  cursorRow,
  inboxEvents,
  inboxTab,
  loadInbox,
  loadOpenRow,
  openRow,
  showRow,
} from "./inbox-state.js";

/** The rows of the list that is shown, by id or key. */
function rowsInSight(): string[] {
  return inboxTab.value === "events"
    ? inboxEvents.value.map(({ id }) => id)
    : contactEventRows.value.map(({ key }) => key);
}

/** Element id of the row, so that keys move the focus there. */
export function inboxRowId(row: string): string {
  return `inbox-${row}`;
}

export function moveInboxCursor(step: number): void {
  const rows = rowsInSight();
  const index = rows.indexOf(cursorRow.value);
  const next = rows[Math.min(rows.length - 1, Math.max(0, index + step))];
  if (next === undefined) return;
  cursorRow.value = next;
  if (openRow.value !== "") showRow(next);
}

export function toggleChosenRow(row: string): void {
  const next = new Set(chosenRows.value);
  if (!next.delete(row)) next.add(row);
  chosenRows.value = next;
  cursorRow.value = row;
}

export function areAllRowsChosen(): boolean {
  const rows = rowsInSight();
  return rows.length > 0 && rows.every((row) => chosenRows.value.has(row));
}

/** Chooses all rows, or none if all are chosen. */
export function toggleAllRows(): void {
  if (areAllRowsChosen()) clearChosenRows();
  else chosenRows.value = new Set(rowsInSight());
}

/** The selected rows that the list still shows, in its order. */
export function chosenRowsInSight(): string[] {
  if (chosenRows.value.size === 0) return [];
  return rowsInSight().filter((row) => chosenRows.value.has(row));
}

/** The row that keys act on, if the list still shows it; otherwise empty. */
export function cursorRowInSight(): string {
  return rowsInSight().includes(cursorRow.value) ? cursorRow.value : "";
}

/** The rows that a command acts on: the selected ones, or the open one, or the one at the cursor. */
export function targetRows(): string[] {
  const inSight = chosenRowsInSight();
  if (inSight.length > 0) return inSight;
  const row = openRow.value === "" ? cursorRowInSight() : openRow.value;
  return row === "" ? [] : [row];
}

/**
 * Retries what is dead or parked in the rows, runs now what waits for its next run in events, or discards what is
 * unfinished in them after a question.
 */
export function changeRows(rows: readonly string[], change: WorkChange): Promise<boolean> {
  const isEvents = inboxTab.value === "events";
  return runAction(async () => {
    if (rows.length === 0) return;
    if (change === "discard" && !(await mayDiscard(nameOf(rows.length, isEvents)))) return;
    if (!isEvents && change === "run") return;
    const running = isEvents && change !== "discard" ? eventsThatRun(rows, change) : [];
    const waiting = await readWaiting(running, change);
    const { changed, failed } =
      isEvents || change === "run"
        ? await changeInboxEvents([...rows], change)
        : await changeContactEvents([...rows], change);
    if (running.length > 0 && changed > 0 && change !== "discard") await followChange(running, change, waiting);
    else reportChange(change, changed, isEvents);
    if (failed > 0) reportFailed(failed, isEvents);
    clearChosenRows();
    await loadInbox();
    if (openRow.value === "") return;
    await (isEvents ? readWork(openRow.value) : loadOpenRow());
  });
}

/** Without those of which the list shows that nothing in them can run. An open event may be outside the list. */
function eventsThatRun(ids: readonly string[], change: "retry" | "run"): string[] {
  const mayChange = change === "retry" ? mayRetry : mayRunNow;
  const idle = inboxEvents.value.filter((event) => !mayChange(event));
  return ids.filter((each) => !idle.some(({ id }) => id === each));
}

function nameOf(count: number, isEvents: boolean): string {
  if (isEvents) return count === 1 ? "event" : `unfinished work of ${count} events`;
  return count === 1 ? "contact event" : `${count} contact events`;
}

function reportChange(change: WorkChange, changed: number, isEvents: boolean): void {
  const what = isEvents ? plural(changed, "piece of work", "pieces of work") : plural(changed, "contact event");
  const done = change === "discard" ? `${what} discarded` : `${what} pending again`;
  showNotice(changed === 0 ? { tone: "plain", text: "Nothing to change here" } : { tone: "good", text: done });
}

function reportFailed(failed: number, isEvents: boolean): void {
  const why = isEvents
    ? `${plural(failed, "event")} could not be changed: gone, or without a body`
    : `${plural(failed, "contact event")} could not be changed: not in a state for it`;
  showNotice({ tone: "warn", text: why });
}
