import { LIST_ID } from "../deliveries/capture-list.js";
import { view } from "../state/address.js";
import { openId } from "../state/selection.js";
import { followKeys, isIn } from "../ui/follow-keys.js";
import { KEY_COMMANDS, runDigit } from "./commands.js";

/** Turns keys into commands. */
export function handleKeys(): () => void {
  return followKeys({
    commands: KEY_COMMANDS,
    view: () => view.value,
    takeFirst: (event) => moveToTabs(event) || runDigit(event.key),
  });
}

/** Tab moves from the list to the tabs of the open capture. From there it works as usual. */
function moveToTabs(event: KeyboardEvent): boolean {
  if (event.key !== "Tab" || event.shiftKey || !isIn(event.target, `#${LIST_ID}`) || openId.value === "") return false;
  const tab = document.querySelector<HTMLElement>('.detail [role="tab"][aria-selected="true"]');
  tab?.focus();
  return tab !== null;
}
