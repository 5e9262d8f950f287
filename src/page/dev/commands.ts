import { readCapture } from "../api/calls.js";
import { editLabels } from "../detail/label-dialog.js";
import { replayElsewhere } from "../detail/replay-elsewhere.js";
import { editCapture } from "../edit/edit-drawer.js";
import { outboxSelection } from "../outbox/outbox-state.js";
import { copyCurl, remove, replay, togglePin } from "../state/actions.js";
import { returnTo, setParams, view } from "../state/address.js";
import { captureSelection, closeDetail, openId } from "../state/captures.js";
import { DETAIL_TABS, showTab } from "../state/detail.js";
import { runAction } from "../state/notice.js";
import { keysOf } from "../ui/follow-keys.js";
import { type NavItem, goKeys } from "../ui/frame.js";
import { focusLastRow, listKeys, rowAtCursor } from "../ui/row-cursor.js";

export const DEV_VIEWS: readonly NavItem[] = [
  { name: "deliveries", label: "Deliveries", icon: "deliveries", key: "g d" },
  { name: "send", label: "Send", icon: "send", key: "g s" },
  { name: "outbox", label: "Outbox", icon: "inbox", key: "g x" },
  { name: "sandbox", label: "Sandbox", icon: "sandbox", key: "g b" },
];

/** In the order of the sheet. */
export const KEY_GROUPS = ["Lists", "Act", "Go"] as const;

/** The captures that a command acts on: the chosen ones, in the order of the list, or the one that is open or used. */
function targetIds(): string[] {
  const chosen = captureSelection.inSight.value;
  const id = openId.value === "" ? rowAtCursor() : openId.value;
  return chosen.length > 0 || id === "" ? chosen : [id];
}

const withTargets = (run: (ids: string[]) => unknown) => () => {
  const ids = targetIds();
  if (ids.length > 0) void run(ids);
};

const withOne = (run: (id: string) => unknown) => withTargets(([id = ""]) => run(id));

const edit = (id: string) => runAction(async () => editCapture((await readCapture(id)).capture));

const labelOne = (id: string) => runAction(async () => editLabels((await readCapture(id)).capture));

/** Closes the topmost layer. */
function stepBack(): void {
  if (view.value === "deliveries" && captureSelection.inSight.value.length > 0) captureSelection.clear();
  else if (view.value === "outbox" && outboxSelection.inSight.value.length > 0) outboxSelection.clear();
  else if (view.value === "outbox") setParams({ key: "" });
  else closeDetail();
  focusLastRow();
}

const act = keysOf("Act", "deliveries");

export const KEY_COMMANDS = [
  ...listKeys("Lists", null),
  keysOf("Lists", "deliveries")(["1", "2", "3", "4", "5", "6", "7"], "Tab of the open delivery", () => {}),
  keysOf("Lists", null)(["Escape"], "Choose none, close, back", stepBack),
  act(
    ["r"],
    "Replay, signed again",
    withTargets((ids) => replay({ ids, mode: "resign" })),
  ),
  act(["R"], "Replay to another URL", withTargets(replayElsewhere)),
  act(["e"], "Edit & replay", withOne(edit)),
  act(["c"], "Copy as cURL", withOne(copyCurl)),
  act(["p"], "Pin or unpin", withTargets(togglePin)),
  act(["t"], "Tags and note", withOne(labelOne)),
  act(["Delete"], "Delete", withTargets(remove)),
  keysOf("Go", null)(["n"], "New event", () => returnTo("send")),
  ...goKeys(DEV_VIEWS),
];

/** A digit shows the tab with that number. */
export function runDigit(key: string): boolean {
  const tab = DETAIL_TABS[Number(key) - 1];
  if (tab === undefined || openId.value === "" || view.value !== "deliveries") return false;
  showTab(tab);
  return true;
}
