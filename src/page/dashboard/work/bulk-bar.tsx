import { isStopped, piecesIn } from "../../../operator/states.js";
import type { HandlerView } from "../../../store/inbox-view.js";
import type { JobAction } from "../../../store/bulk-jobs.js";
import { readParam } from "../../state/address.js";
import { pausedHandlers } from "../../state/handlers.js";
import { mayOperate } from "../../state/session.js";
import { canRunNow } from "../../state/work.js";
import { ActionButton, CountedAction } from "../../ui/action-button.js";
import { SelectionBar } from "../../ui/selection-bar.js";
import { changeWork } from "../jobs/jobs.js";
import { eventSelection, events, isNarrowed, listedWork, workOfChosen, workState } from "./work-state.js";

/** Which actions can change something in the state that is listed. */
const ACTIONS: Readonly<Record<string, readonly JobAction[]>> = {
  "": ["retry", "run", "discard"],
  pending: ["run"],
  retrying: ["run"],
  dead: ["retry", "discard"],
  parked: ["retry", "discard"],
};

/** Actions for the chosen events, or for all of a narrowed list. The number is shown before anything is changed. */
export function BulkBar() {
  if (!mayOperate.value || events.items.value.length === 0) return null;
  const ids = eventSelection.inSight.value;
  if (ids.length > 0) return <ChosenBar ids={ids} />;
  return isNarrowed.value || workState.value !== "" ? <AllBar /> : null;
}

function ChosenBar({ ids }: { ids: string[] }) {
  const act = (action: JobAction) => async (those: readonly string[]) => {
    const filter = workOfChosen(those);
    if (filter !== undefined && (await changeWork(action, filter))) eventSelection.clear();
  };
  const isExact = workOfChosen(ids) !== undefined;
  return (
    <SelectionBar
      label="Chosen events"
      count={ids.length}
      ifTooMany="Choose fewer, or choose none and change all that a filter matches."
      clear={eventSelection.clear}
    >
      {!isExact && (
        <span class="hint">Choose a handler too: other work of these events may have failed otherwise.</span>
      )}
      {(isExact ? (ACTIONS[workState.value] ?? []) : []).map((action) => (
        <CountedAction key={action} action={action} rows={changeableOf(action, ids)} run={act(action)} />
      ))}
    </SelectionBar>
  );
}

function AllBar() {
  const actions = ACTIONS[workState.value] ?? [];
  if (listedWork() === undefined || actions.length === 0) return null;
  const act = (action: JobAction) => {
    const filter = listedWork();
    return filter && changeWork(action, filter);
  };
  return (
    <SelectionBar label="All that match" count={null}>
      {actions.map((action) => (
        <ActionButton key={action} action={action} of="all…" run={() => act(action)} />
      ))}
    </SelectionBar>
  );
}

/** Those of these listed events of whose work, as far as the list is about it, the action can change something. */
function changeableOf(action: JobAction, ids: readonly string[]): string[] {
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

const CAN_CHANGE: Record<JobAction, (piece: HandlerView) => boolean> = {
  retry: isStopped,
  discard: isStopped,
  run: (piece) => canRunNow(piece, pausedHandlers.value),
};
