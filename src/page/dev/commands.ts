import { readCapture } from "../api/calls.js";
import { LIST_ID } from "../deliveries/capture-list.js";
import { SEARCH_BOX_ID } from "../deliveries/search-box.js";
import { editLabels } from "../detail/label-dialog.js";
import { replayElsewhere } from "../detail/replay-elsewhere.js";
import { editCapture } from "../edit/edit-drawer.js";
import { outboxSelection } from "../outbox/outbox-state.js";
import { copyCurl, remove, replay, togglePin } from "../state/actions.js";
import { returnTo, setParams, view } from "../state/address.js";
import {
  captureSelection,
  closeDetail,
  cursorId,
  cursorInSight,
  moveCursor,
  openCapture,
  openId,
  targetIds,
  toggleChosen,
} from "../state/capture-selection.js";
import { DETAIL_TABS, showTab } from "../state/detail.js";
import { runAction } from "../state/notice.js";
import { keysOf } from "../ui/follow-keys.js";
import { type NavItem, goKeys } from "../ui/frame.js";
import { listKeys } from "../ui/row-cursor.js";

export const DEV_VIEWS: readonly NavItem[] = [
  { name: "deliveries", label: "Deliveries", icon: "deliveries", key: "g d" },
  { name: "send", label: "Send", icon: "send", key: "g s" },
  { name: "outbox", label: "Outbox", icon: "inbox", key: "g x" },
  { name: "sandbox", label: "Sandbox", icon: "sandbox", key: "g b" },
];

/** In the order of the sheet. */
export const KEY_GROUPS = ["Move", "Act", "Outbox", "Go"] as const;

/** Rows that PageUp and PageDown move. */
const PAGE = 15;

function focusById(id: string): void {
  document.querySelector<HTMLElement>(`#${id}`)?.focus();
}

function withTargets(run: (ids: string[]) => unknown): () => void {
  return () => {
    const ids = targetIds();
    if (ids.length > 0) void run(ids);
  };
}

function withOne(run: (id: string) => unknown): () => void {
  return withTargets(([id = ""]) => run(id));
}

const edit = (id: string) => runAction(async () => editCapture((await readCapture(id)).capture));

const labelOne = (id: string) => runAction(async () => editLabels((await readCapture(id)).capture));

/** Closes the topmost layer. */
function stepBack(): void {
  if (view.value === "deliveries" && captureSelection.inSight.value.length > 0) captureSelection.clear();
  else if (view.value === "outbox" && outboxSelection.inSight.value.length > 0) outboxSelection.clear();
  else if (view.value === "outbox") setParams({ key: "" });
  else closeDetail();
  if (view.value === "deliveries") focusById(LIST_ID);
}

const move = keysOf("Move", "deliveries");
const act = keysOf("Act", "deliveries");

export const KEY_COMMANDS = [
  move(["j", "ArrowDown"], "Next delivery", () => moveCursor(1)),
  move(["k", "ArrowUp"], "Previous delivery", () => moveCursor(-1)),
  move(["PageDown"], "Further down", () => moveCursor(PAGE)),
  move(["PageUp"], "Further up", () => moveCursor(-PAGE)),
  move(["Home"], "First delivery", () => moveCursor(-Infinity)),
  move(["End"], "Last delivery", () => moveCursor(Infinity)),
  move(["Enter"], "Open it", () => {
    if (cursorInSight() === "") moveCursor(0);
    if (cursorInSight() !== "") openCapture(cursorId.value);
  }),
  move(["1", "2", "3", "4", "5", "6", "7"], "Tab of the open delivery", () => {}),
  move(["/"], "Search", () => focusById(SEARCH_BOX_ID)),
  keysOf("Move", null)(["Escape"], "Back, close, clear", stepBack),
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
  act(["x"], "Choose", () => {
    if (cursorInSight() !== "") toggleChosen(cursorId.value);
  }),
  act(["Delete"], "Delete", withTargets(remove)),
  ...listKeys("Outbox", "outbox"),
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
