import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { SECOND } from "../../base/duration.js";
import type { HandlerTimes } from "../../operator/inbox-rows.js";
import { fetchHandlers } from "../api/calls.js";
import { readParam } from "./address.js";
import { runAction } from "./notice.js";
import { session } from "./session.js";

/** A receiver writes its times as often. */
const REFRESH_MS = 10 * SECOND;

/** How long each handler's runs took; null until that is loaded. */
export const handlerTimes = signal<readonly HandlerTimes[] | null>(null);

/** The handler whose times are shown: that of the address, or else the one with the most runs. */
export function shownHandler(): HandlerTimes | undefined {
  const rows = handlerTimes.value ?? [];
  const named = rows.find(({ handler }) => handler === readParam("handler"));
  return named ?? rows.toSorted((a, b) => b.runs - a.runs)[0];
}

/** Loads the times again as long as the component is shown; nothing without an inbox. */
export function useHandlerTimes(isShown: boolean): void {
  const mustLoad = isShown && session.value?.inbox === true;
  useEffect(() => {
    if (!mustLoad) return;
    const load = () =>
      runAction(
        async () =>
          void (handlerTimes.value = (await fetchHandlers("8d")).handlers.flatMap(({ times }) => times ?? [])),
      );
    void load();
    const timer = setInterval(() => document.visibilityState === "visible" && void load(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [mustLoad]);
}
