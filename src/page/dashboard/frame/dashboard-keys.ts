import { outboxSelection } from "../outbox/outbox-state.js";
import { eventSelection } from "../work/work-state.js";
import { isSheetOpen } from "../../state/key-sheet.js";
import type { KeyCommand } from "../../ui/follow-keys.js";
import { chooseAtCursor, hasRows, moveRowCursor, openAtCursor, scrollsByItself } from "./row-cursor.js";
import { type DashboardView, goBack, goTo, readParam, returnTo, setParams, view } from "../state/dashboard-address.js";

/** In the order of the sheet. */
export const DASHBOARD_KEY_GROUPS = ["Go", "Lists"] as const;

type DashboardCommand = KeyCommand<DashboardView, (typeof DASHBOARD_KEY_GROUPS)[number]>;

const go = (key: string, label: string, view: DashboardView): DashboardCommand => ({
  keys: [key],
  label,
  group: "Go",
  view: null,
  run: () => returnTo(view),
});

const inLists = (command: Pick<DashboardCommand, "keys" | "label" | "run" | "isFor">): DashboardCommand => ({
  group: "Lists",
  view: null,
  ...command,
});

/** Arrows scroll where no row can be. */
const isForRows = ({ key, target }: KeyboardEvent): boolean =>
  hasRows() && !(key.startsWith("Arrow") && scrollsByItself(target));

const searchField = (): HTMLElement | null => document.querySelector(".dash-filters input");

/** Closes the topmost layer of the view. */
function stepBack(): void {
  const selection = { work: eventSelection, outbox: outboxSelection, overview: null, errors: null, event: null }[
    view.value
  ];
  if (selection !== null && selection.inSight.value.length > 0) selection.clear();
  else if (view.value === "event") leaveTo("work");
  else if (view.value === "work" && readParam("group") !== "") leaveTo("errors");
  else if (readParam("key") !== "") setParams({ key: "" });
}

/** Back to where the view was opened; to its list when nothing of the dashboard was there before. */
function leaveTo(list: DashboardView): void {
  if (!goBack()) goTo(list);
}

export const DASHBOARD_KEYS: readonly DashboardCommand[] = [
  go("g o", "Overview", "overview"),
  go("g e", "Errors", "errors"),
  go("g w", "Work", "work"),
  go("g x", "Outbox", "outbox"),
  { keys: ["?"], label: "This sheet", group: "Go", view: null, run: () => (isSheetOpen.value = true) },
  inLists({ keys: ["j", "ArrowDown"], label: "Next row", run: () => moveRowCursor(1), isFor: isForRows }),
  inLists({ keys: ["k", "ArrowUp"], label: "Previous row", run: () => moveRowCursor(-1), isFor: isForRows }),
  inLists({ keys: ["Enter"], label: "Open it", run: openAtCursor, isFor: hasRows }),
  inLists({ keys: ["x"], label: "Choose it", run: chooseAtCursor }),
  inLists({ keys: ["Escape"], label: "Choose none, close, back", run: stepBack }),
  inLists({
    keys: ["/"],
    label: "Search",
    run: () => searchField()?.focus(),
    isFor: () => searchField() !== null,
  }),
];
