import { type Inputs, useEffect } from "preact/hooks";

/** The receiver works meanwhile: interval of loading again while the page is visible. */
const REFRESH_MS = 3000;

/** Loads now, again whenever an input changes, and from time to time for as long as the component is shown. */
export function useRefresh(load: (isFirst: boolean) => void, inputs: Inputs): void {
  useEffect(() => {
    load(true);
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") load(false);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, inputs);
}
