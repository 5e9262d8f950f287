import { outboxSelection } from "../../outbox/outbox-state.js";
import { eventSelection } from "../work/work-state.js";
import { isSheetOpen } from "../../state/key-sheet.js";
import type { KeyCommand } from "../../ui/follow-keys.js";
import { listKeys } from "../../ui/list-keys.js";
import { type ViewName, goBack, goTo, readParam, returnTo, setParams, view } from "../../state/address.js";

/** In the order of the sheet. */
export const DASHBOARD_KEY_GROUPS = ["Go", "Lists"] as const;

type DashboardCommand = KeyCommand<ViewName, (typeof DASHBOARD_KEY_GROUPS)[number]>;

const go = (key: string, label: string, view: ViewName): DashboardCommand => ({
  keys: [key],
  label,
  group: "Go",
  view: null,
  run: () => returnTo(view),
});

/** Closes the topmost layer of the view. */
function stepBack(): void {
  const selection = { work: eventSelection, outbox: outboxSelection }[view.value as string];
  if (selection !== undefined && selection.inSight.value.length > 0) selection.clear();
  else if (view.value === "event") leaveTo("work");
  else if (view.value === "work" && readParam("group") !== "") leaveTo("errors");
  else if (readParam("key") !== "") setParams({ key: "" });
}

/** Back to where the view was opened; to its list when nothing of the dashboard was there before. */
function leaveTo(list: ViewName): void {
  if (!goBack()) goTo(list);
}

export const DASHBOARD_KEYS: readonly DashboardCommand[] = [
  go("g o", "Overview", "overview"),
  go("g e", "Errors", "errors"),
  go("g w", "Work", "work"),
  go("g x", "Outbox", "outbox"),
  { keys: ["?"], label: "This sheet", group: "Go", view: null, run: () => (isSheetOpen.value = true) },
  ...listKeys<"Lists">("Lists", null),
  { keys: ["Escape"], label: "Choose none, close, back", group: "Lists", view: null, run: stepBack },
];
