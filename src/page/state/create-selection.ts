import { computed, signal, type ReadonlySignal } from "@preact/signals";

/** The rows of a list that are chosen for a common action. */
export interface RowSelection {
  has: (row: string) => boolean;
  /** The chosen rows that the list still shows, in its order. */
  inSight: ReadonlySignal<string[]>;
  /** Whether all rows of the list are chosen; false for an empty list. */
  isWhole: ReadonlySignal<boolean>;
  toggle: (row: string) => void;
  add: (rows: readonly string[]) => void;
  /** Chooses all rows, or none if all are chosen. */
  toggleAll: () => void;
  clear: () => void;
  /** Clears it when another list is shown than before, by what the list asks for. */
  keepFor: (list: string) => void;
}

/** @param rows What the list shows: the ids of its rows. */
export function createSelection(rows: () => string[]): RowSelection {
  const chosen = signal<ReadonlySet<string>>(new Set());
  const inSight = computed(() => rows().filter((row) => chosen.value.has(row)));
  const isWhole = computed(() => inSight.value.length > 0 && inSight.value.length === rows().length);
  let shownList = "";
  const clear = () => void (chosen.value = new Set());
  return {
    has: (row) => chosen.value.has(row),
    inSight,
    isWhole,
    toggle(row) {
      const next = new Set(chosen.value);
      if (!next.delete(row)) next.add(row);
      chosen.value = next;
    },
    add: (more) => void (chosen.value = new Set([...chosen.value, ...more])),
    toggleAll() {
      if (isWhole.value) clear();
      else chosen.value = new Set(rows());
    },
    clear,
    keepFor(list) {
      if (list !== shownList) clear();
      shownList = list;
    },
  };
}
