import { type ViewName, view } from "../state/address.js";

/** One line of the sheet of keys, and what its keys do. */
export interface KeyCommand {
  /** As the browser names them. Two keys with a space between are a sequence. */
  keys: readonly string[];
  label: string;
  /** Its part of the sheet. */
  group: string;
  /** The only view that it is for; null for any. */
  view: ViewName | null;
  run: () => void;
  /** Whether it has something to do; the key keeps its meaning otherwise. @default always */
  isFor?: ((event: KeyboardEvent) => boolean) | undefined;
}

/** Makes the commands of a part of the sheet. */
export function keysOf(group: string, view: ViewName | null) {
  return (keys: readonly string[], label: string, run: () => void, isFor?: KeyCommand["isFor"]): KeyCommand => {
    return { keys, label, group, view, run, isFor };
  };
}

/** A sequence's second key must follow this soon. */
const SEQUENCE_MS = 1000;

/**
 * Turns keys into commands, except in fields for text or choices. `takeFirst`: takes a key before the commands do,
 * unless it is the second one of a sequence; true if it has used it.
 */
export function followKeys(commands: readonly KeyCommand[], takeFirst?: (event: KeyboardEvent) => boolean): void {
  const firsts = new Set(commands.flatMap(({ keys }) => keys.flatMap((each) => /^(\S+) \S/.exec(each)?.[1] ?? [])));
  let sequence = { key: "", at: 0 };
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") !== null || isTyping(event.target)) return;
    // Enter keeps its meaning on what it presses, follows or unfolds.
    if (event.key === "Enter" && isIn(event.target, "button, a, summary, [role=option]")) return;
    const isSecond = sequence.key !== "" && event.timeStamp - sequence.at < SEQUENCE_MS;
    const keys = isSecond ? `${sequence.key} ${event.key}` : event.key;
    sequence = { key: "", at: 0 };
    if (!isSecond && takeFirst?.(event) === true) return event.preventDefault();
    if (firsts.has(event.key) && !isSecond) {
      sequence = { key: event.key, at: event.timeStamp };
      return;
    }
    const command = commands.find((each) => each.keys.includes(keys) && (each.view ?? view.value) === view.value);
    if (command === undefined || command.isFor?.(event) === false) return;
    event.preventDefault();
    command.run();
  });
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target.matches("textarea, select") || target.isContentEditable;
}

export function isIn(target: EventTarget | null, selector: string): boolean {
  return target instanceof Element && target.closest(selector) !== null;
}
