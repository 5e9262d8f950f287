import { type Inputs, useEffect } from "preact/hooks";
import { isUpToDate, storeTrouble } from "../state/now.js";

/** The receivers work meanwhile: interval of loading again while the page is visible. */
const REFRESH_MS = 5000;

/**
 * Loads now, again whenever an input changes or the store is back, and from time to time while the page is live and
 * visible, unless the user reads further down or `isHeld`; `isAgain` is true then.
 */
export function useListRefresh(load: (isAgain: boolean) => void, inputs: Inputs, isHeld?: () => boolean): void {
  const isLost = storeTrouble.value !== null;
  useEffect(() => {
    load(false);
    const refresh = () => {
      const isAtTop = (document.querySelector(".dash-list")?.scrollTop ?? 0) < 40;
      const isReached = isUpToDate.value && !isLost && document.visibilityState === "visible";
      if (isReached && isAtTop && isHeld?.() !== true) load(true);
    };
    const timer = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(timer);
  }, [...inputs, isLost]);
}
