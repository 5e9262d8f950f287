import type { JobAction } from "../../../web/api/jobs.js";
import { MAX_CHOSEN } from "../../../web/api/work.js";
import { ChooseNone } from "../../ui/icon-button.js";
import { Icon } from "../../ui/icon.js";
import { mayOperate } from "../../state/session.js";
import { changeWork } from "../state/jobs.js";
import { canRunNow } from "../../state/work.js";
import { MostChosen } from "../../ui/most-chosen.js";
import { eventSelection, events, listedWork, WORK_PARAMS, workOfChosen, workState } from "./work-state.js";
import { isStopped, piecesIn } from "../../../operator/states.js";
import type { HandlerView } from "../../../operator/inbox-rows.js";
import { readParam } from "../../state/address.js";
import { pausedHandlers } from "../../state/handlers.js";

/** Actions for the chosen events, or for all of a narrowed list. The number is shown before anything is changed. */
export function BulkBar() {
  if (!mayOperate.value || events.items.value.length === 0) return null;
  const ids = eventSelection.inSight.value;
  if (ids.length > 0) return <ChosenBar ids={ids} />;
  const isNarrowed = workState.value !== "" || WORK_PARAMS.some((name) => readParam(name) !== "");
  return isNarrowed ? <AllBar /> : null;
}

function ChosenBar({ ids }: { ids: string[] }) {
  const isTooMuch = ids.length > MAX_CHOSEN;
  const act = (action: JobAction) =>
    void changeWork(action, workOfChosen(changeableOf(action, ids))).then(
      (isStarted) => isStarted && eventSelection.clear(),
    );
  return (
    <div class="selection-bar" role="toolbar" aria-label="Chosen events">
      <span class="selection-count">{ids.length} chosen</span>
      {isTooMuch && <MostChosen orElse="choose none and change all that a filter matches" />}
      {!isTooMuch &&
        (ACTIONS[workState.value] ?? []).map((action) => {
          const { length } = changeableOf(action, ids);
          return length > 0 && <Button key={action} action={action} suffix={`(${length})`} act={act} />;
        })}
      <ChooseNone onClick={eventSelection.clear} />
    </div>
  );
}

/** Which actions can change something in the state that is listed. */
const ACTIONS: Readonly<Record<string, readonly JobAction[]>> = {
  "": ["retry", "run", "discard"],
  pending: ["run"],
  retrying: ["run"],
  dead: ["retry", "discard"],
  parked: ["retry", "discard"],
};

function AllBar() {
  const actions = ACTIONS[workState.value] ?? [];
  if (listedWork() === undefined || actions.length === 0) return null;
  const act = (action: JobAction) => {
    const filter = listedWork();
    if (filter !== undefined) void changeWork(action, filter);
  };
  return (
    <div class="selection-bar" role="toolbar" aria-label="All that match">
      <span class="selection-count">All that match</span>
      {actions.map((action) => (
        <Button key={action} action={action} suffix="all…" act={act} />
      ))}
    </div>
  );
}

const BUTTONS = {
  retry: { words: "Retry", icon: "replay", tone: "primary" },
  run: { words: "Run now", icon: "clock", tone: "" },
  discard: { words: "Discard", icon: "trash", tone: "danger" },
} as const;

interface ButtonOptions {
  action: JobAction;
  suffix: string;
  act: (action: JobAction) => void;
}

function Button({ action, suffix, act }: ButtonOptions) {
  const { words, icon, tone } = BUTTONS[action];
  return (
    <button type="button" class={`button ${tone}`} onClick={() => act(action)}>
      <Icon name={icon} /> {words} {suffix}
    </button>
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
