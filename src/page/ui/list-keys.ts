import type { KeyCommand } from "./follow-keys.js";
import { chooseAtCursor, hasRows, moveRowCursor, openAtCursor, scrollsByItself } from "./row-cursor.js";
import type { ViewName } from "../state/address.js";

/** Arrows scroll where no row can be. */
const isForRows = ({ key, target }: KeyboardEvent): boolean =>
  hasRows() && !(key.startsWith("Arrow") && scrollsByItself(target));

const searchField = (): HTMLElement | null => document.querySelector(".list-filters input");

/** Keys of lists whose rows are links or buttons. `view`: the only one that they are for; null for any. */
export function listKeys<Group extends string>(group: Group, view: ViewName | null): KeyCommand<ViewName, Group>[] {
  const of = (keys: string[], label: string, run: () => void, isFor?: (event: KeyboardEvent) => boolean) => {
    return { keys, label, run, group, view, ...(isFor === undefined ? {} : { isFor }) };
  };
  return [
    of(["j", "ArrowDown"], "Next row", () => moveRowCursor(1), isForRows),
    of(["k", "ArrowUp"], "Previous row", () => moveRowCursor(-1), isForRows),
    of(["Enter"], "Open it", openAtCursor, hasRows),
    of(["x"], "Choose it", chooseAtCursor),
    of(
      ["/"],
      "Search",
      () => searchField()?.focus(),
      () => searchField() !== null,
    ),
  ];
}
