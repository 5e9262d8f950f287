import type { DashboardEvent, PausedHandlerRow } from "../../../dashboard/api/work.js";

/** True for an event that has work to run, all of it of handlers that are paused. */
export function waitsForResume({ handlers }: DashboardEvent, paused: readonly PausedHandlerRow[]): boolean {
  const waiting = handlers.filter(({ state }) => state === "pending");
  return waiting.length > 0 && waiting.every(({ handler }) => paused.some((pause) => pause.handler === handler));
}
