import { returnToRow } from "./row-cursor.js";

/** The heading of what is open, or else what scrolls in the view. */
const NEXT_PLACES = [".dash-main h1[tabindex]", ".dash-scroll[tabindex]"];

/** Gives the focus another place when what has it is taken from the page, such as a button after its action. */
export function keepFocus(): void {
  let focused: EventTarget | null = null;
  document.addEventListener("focusin", ({ target }) => (focused = target));
  const check = (): void => {
    if (!(focused instanceof Node) || document.activeElement !== document.body) return;
    const isGone = !focused.isConnected;
    focused = null;
    if (isGone) focusNextPlace();
  };
  // A click beside everything takes the focus from what stays.
  document.addEventListener("focusout", () => queueMicrotask(check));
  new MutationObserver(check).observe(document.body, { childList: true, subtree: true });
}

function focusNextPlace(): void {
  returnToRow();
  for (const place of NEXT_PLACES) {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>(place)?.focus();
  }
}
