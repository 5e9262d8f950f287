/** Rows that keys move through carry this attribute; the first link or button in one opens it. */
const ROW_SELECTOR = "[data-row]";

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(ROW_SELECTOR)].filter((row) => row.checkVisibility());
}

/** The row that has the focus. */
function focusedRow(): HTMLElement | undefined {
  return document.activeElement?.closest<HTMLElement>(ROW_SELECTOR) ?? undefined;
}

/** The link or button that opens the row. */
function opener(row: HTMLElement): HTMLElement | null {
  return row.querySelector<HTMLElement>("a, button");
}

/** Moves the focus to the next or the previous row of the list. */
export function moveRowCursor(step: number): void {
  const all = rows();
  const focused = focusedRow();
  const index = focused === undefined ? (step > 0 ? -1 : all.length) : all.indexOf(focused);
  const next = all[Math.min(all.length - 1, Math.max(0, index + step))];
  if (next === undefined) return;
  opener(next)?.focus();
  next.scrollIntoView({ block: "nearest" });
}

export function openAtCursor(): void {
  const row = focusedRow() ?? rows()[0];
  if (row !== undefined) opener(row)?.click();
}

/** Ticks the box of the row that has the focus. */
export function chooseAtCursor(): void {
  focusedRow()?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click();
}
