import { piecesIn } from "../../../capture/model/work-word.js";
import type { JobAction } from "../../../dashboard/api/jobs.js";
import { readParam } from "../state/dashboard-address.js";
import { now } from "../state/now.js";
import { canRunNow } from "./can-run-now.js";
import { events, workState } from "./work-state.js";

/** Those of these listed events of whose work, as far as the list is about it, the action can change something. */
export function changeableOf(action: JobAction, ids: readonly string[]): string[] {
  const chosen = new Set(ids);
  const handler = readParam("handler");
  const isOfHandler = (each: { handler: string }) => handler === "" || each.handler === handler;
  return events.items.value
    .filter(({ id }) => chosen.has(id))
    .filter(({ handlers }) =>
      piecesIn(handlers, workState.value).some((piece) => isOfHandler(piece) && CAN_CHANGE[action](piece)),
    )
    .map(({ id }) => id);
}

interface Piece {
  handler: string;
  state: string;
  dueAt: string | null;
}

const hasStopped = ({ state }: Piece): boolean => state === "dead" || state === "parked";

const CAN_CHANGE: Record<JobAction, (piece: Piece) => boolean> = {
  retry: hasStopped,
  discard: hasStopped,
  run: (piece) => canRunNow(piece, now.value?.paused ?? []),
};
