import { DETAIL_TABS, showTab } from "../state/detail-tabs.js";
import { editLabels } from "../detail/label-dialog.js";
import { replayElsewhere } from "../detail/target-dialog.js";
import { LIST_ID } from "../deliveries/capture-list.js";
import { SEARCH_BOX_ID } from "../deliveries/search-box.js";
import { editCapture } from "../edit/editing.js";
import { readCapture } from "../api/calls.js";
import { copyCurl, remove, replay, togglePin } from "../state/actions.js";
import { runAction } from "../state/notice.js";
import { returnTo, type ViewName, view, setParams } from "../state/address.js";
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
import { outboxSelection } from "../outbox/outbox-state.js";
import { listKeys } from "../ui/list-keys.js";
import { isSheetOpen } from "../state/key-sheet.js";
import type { KeyCommand } from "../ui/follow-keys.js";

/** In the order of the sheet. */
export const KEY_GROUPS = ["Move", "Act", "Outbox", "Go"] as const;

type PageCommand = KeyCommand<ViewName, (typeof KEY_GROUPS)[number]>;

const inList = (keys: readonly string[], label: string, group: PageCommand["group"], run: () => void): PageCommand => ({
  keys,
  label,
  group,
  view: "deliveries",
  run,
});

const anywhere = (
  keys: readonly string[],
  label: string,
  group: PageCommand["group"],
  run: () => void,
): PageCommand => ({
  keys,
  label,
  group,
  view: null,
  run,
});

/** Rows that PageUp and PageDown move. */
const PAGE = 15;

function focusById(id: string): void {
  document.querySelector<HTMLElement>(`#${id}`)?.focus();
}

function withTargets(run: (ids: string[]) => void): () => void {
  return () => {
    const ids = targetIds();
    if (ids.length > 0) run(ids);
  };
}

function withOne(run: (id: string) => void): () => void {
  return withTargets(([id]) => {
    if (id !== undefined) run(id);
  });
}

function edit(id: string): void {
  void runAction(async () => editCapture((await readCapture(id)).capture));
}

function labelOne(id: string): void {
  void runAction(async () => editLabels((await readCapture(id)).capture));
}

/** Closes the topmost layer. */
function stepBack(): void {
  if (view.value === "deliveries" && captureSelection.inSight.value.length > 0) captureSelection.clear();
  else if (view.value === "outbox" && outboxSelection.inSight.value.length > 0) outboxSelection.clear();
  else if (view.value === "outbox") setParams({ key: "" });
  else closeDetail();
  if (view.value === "deliveries") focusById(LIST_ID);
}

export const KEY_COMMANDS: readonly PageCommand[] = [
  inList(["j", "ArrowDown"], "Next delivery", "Move", () => moveCursor(1)),
  inList(["k", "ArrowUp"], "Previous delivery", "Move", () => moveCursor(-1)),
  inList(["PageDown"], "Further down", "Move", () => moveCursor(PAGE)),
  inList(["PageUp"], "Further up", "Move", () => moveCursor(-PAGE)),
  inList(["Home"], "First delivery", "Move", () => moveCursor(-Infinity)),
  inList(["End"], "Last delivery", "Move", () => moveCursor(Infinity)),
  inList(["Enter"], "Open it", "Move", () => {
    if (cursorInSight() === "") moveCursor(0);
    if (cursorInSight() !== "") openCapture(cursorId.value);
  }),
  inList(["1", "2", "3", "4", "5", "6", "7"], "Tab of the open delivery", "Move", () => {}),
  inList(["/"], "Search", "Move", () => focusById(SEARCH_BOX_ID)),
  anywhere(["Escape"], "Back, close, clear", "Move", stepBack),
  inList(
    ["r"],
    "Replay, signed again",
    "Act",
    withTargets((ids) => void replay({ ids, mode: "resign" })),
  ),
  inList(["R"], "Replay to another URL", "Act", withTargets(replayElsewhere)),
  inList(["e"], "Edit & replay", "Act", withOne(edit)),
  inList(
    ["c"],
    "Copy as cURL",
    "Act",
    withOne((id) => void copyCurl(id)),
  ),
  inList(
    ["p"],
    "Pin or unpin",
    "Act",
    withTargets((ids) => void togglePin(ids)),
  ),
  inList(["t"], "Tags and note", "Act", withOne(labelOne)),
  inList(["x"], "Choose", "Act", () => {
    if (cursorInSight() !== "") toggleChosen(cursorId.value);
  }),
  inList(
    ["Delete"],
    "Delete",
    "Act",
    withTargets((ids) => void remove(ids)),
  ),
  ...listKeys<"Outbox">("Outbox", "outbox"),
  anywhere(["n"], "New event", "Go", () => returnTo("send")),
  anywhere(["g d"], "Deliveries", "Go", () => returnTo("deliveries")),
  anywhere(["g s"], "Send", "Go", () => returnTo("send")),
  anywhere(["g x"], "Outbox", "Go", () => returnTo("outbox")),
  anywhere(["g b"], "Sandbox", "Go", () => returnTo("sandbox")),
  anywhere(["?"], "This sheet", "Go", () => (isSheetOpen.value = true)),
];

/** A digit shows the tab with that number. */
export function runDigit(key: string): boolean {
  const tab = DETAIL_TABS[Number(key) - 1];
  if (tab === undefined || openId.value === "" || view.value !== "deliveries") return false;
  showTab(tab);
  return true;
}
