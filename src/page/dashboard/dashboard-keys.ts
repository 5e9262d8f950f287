import { outboxSelection } from "../outbox/outbox-state.js";
import { type ViewName, goBack, goTo, readParam, setParams, view } from "../state/address.js";
import { keysOf } from "../ui/follow-keys.js";
import { type NavItem, goKeys } from "../ui/frame.js";
import { listKeys } from "../ui/row-cursor.js";
import { eventSelection } from "./work/work-state.js";

export const DASHBOARD_VIEWS: readonly NavItem[] = [
  { name: "overview", label: "Overview", icon: "chart", key: "g o" },
  { name: "errors", label: "Errors", icon: "warning", key: "g e" },
  { name: "work", label: "Work", icon: "inbox", key: "g w" },
  { name: "outbox", label: "Outbox", icon: "send", key: "g x" },
];

/** In the order of the sheet. */
export const DASHBOARD_KEY_GROUPS = ["Go", "Lists"] as const;

export const DASHBOARD_KEYS = [
  ...goKeys(DASHBOARD_VIEWS),
  ...listKeys("Lists", null),
  keysOf("Lists", null)(["Escape"], "Choose none, close, back", stepBack),
];

/** Closes the topmost layer of the view. */
function stepBack(): void {
  const selection = { work: eventSelection, outbox: outboxSelection }[view.value as string];
  if (selection !== undefined && selection.inSight.value.length > 0) selection.clear();
  else if (view.value === "event") leaveTo("work");
  else if (view.value === "work" && readParam("errorGroup") !== "") leaveTo("errors");
  else if (readParam("key") !== "") setParams({ key: "" });
}

/** Back to where the view was opened; to its list when nothing of the dashboard was there before. */
function leaveTo(list: ViewName): void {
  if (!goBack()) goTo(list);
}
