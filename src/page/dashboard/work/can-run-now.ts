import type { PausedHandlerRow } from "../../../web/api/work.js";

interface Piece {
  handler: string;
  state: string;
  dueAt: string | null;
}

/** True for work that waits for its next run and could begin it at once. */
export function canRunNow(
  { handler, state, dueAt }: Piece,
  paused: readonly Pick<PausedHandlerRow, "handler">[],
): boolean {
  return state === "pending" && dueAt !== null && !paused.some((pause) => pause.handler === handler);
}
