import { computed, signal } from "@preact/signals";
import { captures } from "./captures.js";
import { readParam, setParams } from "./address.js";
import { createSelection } from "./create-selection.js";

/** The capture in the detail pane; empty if the pane is closed. */
export const openId = computed(() => readParam("open"));

/** The row that keys act on while it is in sight. */
export const cursorId = signal("");

/** The captures that are chosen for a common action. */
export const captureSelection = createSelection(() => captures.value.map(({ id }) => id));

let anchorId = "";

export function openCapture(id: string): void {
  cursorId.value = id;
  anchorId = id;
  setParams({ open: id, attempt: "" });
}

export function closeDetail(): void {
  setParams({ open: "", tab: "", attempt: "" });
}

export function moveCursor(step: number): void {
  const rows = captures.value;
  const index = rows.findIndex(({ id }) => id === cursorId.value);
  const next = rows[Math.min(rows.length - 1, Math.max(0, index + step))];
  if (next === undefined) return;
  cursorId.value = next.id;
  anchorId = next.id;
  if (openId.value !== "") setParams({ open: next.id, attempt: "" });
}

export function toggleChosen(id: string): void {
  captureSelection.toggle(id);
  cursorId.value = id;
  anchorId = id;
}

/** Selects every row from the last selected one to this one. */
export function chooseRange(id: string): void {
  const rows = captures.value;
  const from = rows.findIndex((row) => row.id === anchorId);
  const to = rows.findIndex((row) => row.id === id);
  if (to === -1) return;
  const [first, last] = from === -1 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
  captureSelection.add(rows.slice(first, last + 1).map((row) => row.id));
  cursorId.value = id;
}

/** The row that keys act on, if the query still shows it; otherwise empty. */
export function cursorInSight(): string {
  return captures.value.some(({ id }) => id === cursorId.value) ? cursorId.value : "";
}

/** The captures that a command acts on: the selected ones, in the order of the list, or the one at the cursor. */
export function targetIds(): string[] {
  const inSight = captureSelection.inSight.value;
  if (inSight.length > 0) return inSight;
  const id = openId.value === "" ? cursorInSight() : openId.value;
  return id === "" ? [] : [id];
}
