import { view, type ViewName } from "../state/address.js";
import { keysOf } from "./follow-keys.js";

/** Rows that keys move through, apart from those of a pane beside a list; the first link or button in one opens it. */
const ROW_SELECTOR = "[data-row]:not(.detail *)";

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(ROW_SELECTOR)].filter((row) => row.checkVisibility());
}

function hasRows(): boolean {
  return countRows() > 0;
}

export function countRows(): number {
  return rows().length;
}

/** Whether the target is in a part that scrolls and has no rows, such as the pane beside a list. */
function scrollsByItself(target: EventTarget | null): boolean {
  const part = target instanceof Element ? target.closest("[role=region][tabindex]") : null;
  return part !== null && part.querySelector(ROW_SELECTOR) === null;
}

/** The row that has the focus. */
function focusedRow(): HTMLElement | undefined {
  return document.activeElement?.closest<HTMLElement>(ROW_SELECTOR) ?? undefined;
}

/** The last row of each view that was used: its id. */
const lastRows = new Map<ViewName, string>();

/** Remembers the rows that are used, so that a view has its cursor again on the way back. */
export function followRows(): void {
  const remember = ({ target }: Event): void => {
    const id = target instanceof Element ? target.closest<HTMLElement>(ROW_SELECTOR)?.dataset["row"] : undefined;
    if (id !== undefined) lastRows.set(view.value, id);
  };
  // Before the row is left.
  for (const name of ["focusin", "click"]) document.addEventListener(name, remember, { capture: true });
}

function lastRow(): HTMLElement | undefined {
  const id = lastRows.get(view.value);
  return rows().find((row) => row.dataset["row"] === id);
}

/** Id of the row that has the focus, or had it last and is still in sight; empty without one. */
export function rowAtCursor(): string {
  return (focusedRow() ?? lastRow())?.dataset["row"] ?? "";
}

/** Gives the focus back to the last row of the view. */
export function focusLastRow(): void {
  const row = lastRow();
  if (row !== undefined) focusRow(row);
}

/** The same, unless something else has the focus. */
export function returnToRow(): void {
  if (document.activeElement === null || document.activeElement === document.body) focusLastRow();
}

/** Gives the focus to a row by its place, from 0; does nothing where there is none. */
export function focusRowAt(index: number): void {
  const row = rows()[index];
  if (row !== undefined) focusRow(row);
}

function focusRow(row: HTMLElement): void {
  opener(row)?.focus();
  row.scrollIntoView({ block: "nearest" });
}

/** The link or button that opens the row. */
function opener(row: HTMLElement): HTMLElement | null {
  return row.querySelector<HTMLElement>("a, button");
}

/** Moves the focus by so many rows of the list; what is open beside the list becomes the row that has it then. */
function moveRowCursor(step: number): void {
  const all = rows();
  const focused = focusedRow() ?? lastRow();
  const index = focused === undefined ? (step > 0 ? -1 : all.length) : all.indexOf(focused);
  const next = all[Math.min(all.length - 1, Math.max(0, index + step))];
  if (next === undefined) return;
  focusRow(next);
  if (document.querySelector('.dash-list [aria-current="true"]') !== null) opener(next)?.click();
}

function openAtCursor(): void {
  const row = focusedRow() ?? rows()[0];
  if (row !== undefined) opener(row)?.click();
}

/** Ticks the box of the row that has the focus, or had it last. */
function chooseAtCursor(): void {
  (focusedRow() ?? lastRow())?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click();
}

/** Arrows, Home and End scroll where no row can be. */
const isForRows = ({ key, target }: KeyboardEvent): boolean =>
  hasRows() && !(/^(?:Arrow|Home|End)/.test(key) && scrollsByItself(target));

const searchField = (): HTMLElement | null => document.querySelector(".search input, .list-filters input");

/** Keys of lists whose rows are links or buttons. `view`: the only one that they are for; null for any. */
export function listKeys(group: string, view: ViewName | null) {
  const key = keysOf(group, view);
  const [search, hasSearch] = [() => searchField()?.focus(), () => searchField() !== null];
  return [
    key(["j", "ArrowDown"], "Next row", () => moveRowCursor(1), isForRows),
    key(["k", "ArrowUp"], "Previous row", () => moveRowCursor(-1), isForRows),
    key(["Home"], "First row", () => moveRowCursor(-Infinity), isForRows),
    key(["End"], "Last row", () => moveRowCursor(Infinity), isForRows),
    key(["Enter"], "Open it", openAtCursor, hasRows),
    key(["x"], "Choose it", chooseAtCursor),
    key(["/"], "Search", search, hasSearch),
  ];
}
