import { computed, signal } from "@preact/signals";

/** The rows of a list that are chosen for a common action. */
export type RowSelection = ReturnType<typeof createSelection>;

/** @param rows What the list shows: the ids of its rows. */
export function createSelection(rows: () => string[]) {
  const chosen = signal<ReadonlySet<string>>(new Set());
  /** The chosen rows that the list still shows, in its order. */
  const inSight = computed(() => rows().filter((row) => chosen.value.has(row)));
  /** Whether all rows of the list are chosen; false for an empty list. */
  const isWhole = computed(() => inSight.value.length > 0 && inSight.value.length === rows().length);
  let shownList = "";
  let lastToggled = "";
  const clear = () => void (chosen.value = new Set());
  return {
    has: (row: string) => chosen.value.has(row),
    inSight,
    isWhole,
    /** How many rows the list has. */
    count: () => rows().length,
    /** Chooses a row or does no longer; `isRange`: chooses all from the last one up to it. */
    toggle: (row: string, isRange = false) => {
      const next = new Set(chosen.value);
      const [from = 0, to = 0] = [rows().indexOf(lastToggled), rows().indexOf(row)].toSorted((a, b) => a - b);
      if (isRange && from !== -1) for (const each of rows().slice(from, to + 1)) next.add(each);
      else if (!next.delete(row)) next.add(row);
      lastToggled = row;
      chosen.value = next;
    },
    /** Chooses all rows, or none if all are chosen. */
    toggleAll: () => void (chosen.value = new Set(isWhole.value ? [] : rows())),
    clear,
    /** Clears it when another list is shown than before, by what the list asks for. */
    keepFor: (list: string) => {
      if (list !== shownList) clear();
      shownList = list;
    },
  };
}
