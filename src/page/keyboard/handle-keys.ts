import { LIST_ID } from "../deliveries/capture-list.js";
import { view } from "../state/address.js";
import { openId } from "../state/selection.js";
import { KEY_COMMANDS, runDigit } from "./commands.js";

/** A chord's second key must follow this soon. */
const CHORD_MS = 1000;

/** Turns keys into commands, except in fields for text or choices. */
export function handleKeys(): () => void {
  let chord = { key: "", at: 0 };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") !== null || isTyping(event.target)) return;
    if (event.key === "Tab" && !event.shiftKey && isIn(event.target, `#${LIST_ID}`) && openId.value !== "") {
      // Moves from the list to the tabs of the open capture. From there Tab works as usual.
      const tab = document.querySelector<HTMLElement>('.detail [role="tab"][aria-selected="true"]');
      if (tab !== null) {
        event.preventDefault();
        tab.focus();
      }
      return;
    }
    // Enter on a button or a link keeps its meaning.
    if (event.key === "Enter" && isIn(event.target, "button, a, [role=option]")) return;
    const isChord = chord.key !== "" && event.timeStamp - chord.at < CHORD_MS;
    const keys = isChord ? `${chord.key} ${event.key}` : event.key;
    chord = { key: "", at: 0 };
    if (!isChord && runDigit(event.key)) return event.preventDefault();
    if (event.key === "g" && !isChord) {
      chord = { key: "g", at: event.timeStamp };
      return;
    }
    const command = KEY_COMMANDS.find(
      (candidate) => candidate.keys.includes(keys) && (candidate.view ?? view.value) === view.value,
    );
    if (command === undefined) return;
    event.preventDefault();
    command.run();
  };
  window.addEventListener("keydown", onKeyDown);
  return () => window.removeEventListener("keydown", onKeyDown);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isField = target instanceof HTMLInputElement && target.type !== "checkbox";
  return isField || target instanceof HTMLTextAreaElement || target.isContentEditable;
}

function isIn(target: EventTarget | null, selector: string): boolean {
  return target instanceof Element && target.closest(selector) !== null;
}
