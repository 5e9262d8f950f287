import type { JobAction } from "../../../dashboard/api/jobs.js";
import type { WorkFilter } from "../../../dashboard/api/work.js";
import { ChooseNone } from "../../ui/choose-none.js";
import { Icon } from "../../ui/icon.js";
import { mayOperate } from "../state/dashboard-session.js";
import { changeWork } from "../state/jobs.js";
import { eventSelection, events, listedWork, workOfChosen, workState } from "./work-state.js";

/** Actions for the chosen events, or for all that the list can show. The number is shown before anything is changed. */
export function BulkBar() {
  if (!mayOperate.value || events.items.value.length === 0) return null;
  const ids = eventSelection.inSight.value;
  return ids.length > 0 ? <ChosenBar ids={ids} /> : <AllBar />;
}

function ChosenBar({ ids }: { ids: string[] }) {
  const act = (action: JobAction) =>
    void changeListed(action, workOfChosen(ids)).then((isStarted) => isStarted && eventSelection.clear());
  return (
    <div class="selection-bar" role="toolbar" aria-label="Chosen events">
      <span class="selection-count">{ids.length} chosen</span>
      <Buttons suffix={`(${ids.length})`} actions={ACTIONS[workState.value] ?? []} act={act} />
      <ChooseNone onClick={eventSelection.clear} />
    </div>
  );
}

/** Which actions can change something in the state that is listed. */
const ACTIONS: Readonly<Record<string, readonly JobAction[]>> = {
  "": ["retry", "run", "discard"],
  pending: ["run"],
  dead: ["retry", "discard"],
  parked: ["retry", "discard"],
};

function AllBar() {
  const actions = ACTIONS[workState.value] ?? [];
  if (listedWork() === undefined || actions.length === 0) return null;
  const act = (action: JobAction) => {
    const filter = listedWork();
    if (filter !== undefined) void changeListed(action, filter);
  };
  return (
    <div class="selection-bar" role="toolbar" aria-label="All that match">
      <span class="selection-count">All that match</span>
      <Buttons suffix="all…" actions={actions} act={act} />
    </div>
  );
}

/** A job that makes work due now chooses waiting work by itself. */
function changeListed(action: JobAction, { state, ...rest }: WorkFilter): Promise<boolean> {
  return changeWork(action, action === "run" ? rest : { ...rest, state });
}

interface ButtonsOptions {
  suffix: string;
  actions: readonly JobAction[];
  act: (action: JobAction) => void;
}

function Buttons({ suffix, actions, act }: ButtonsOptions) {
  return (
    <>
      {actions.includes("retry") && (
        <button type="button" class="button primary" onClick={() => act("retry")}>
          <Icon name="replay" /> Retry {suffix}
        </button>
      )}
      {actions.includes("run") && (
        <button type="button" class="button" onClick={() => act("run")}>
          <Icon name="clock" /> Run now {suffix}
        </button>
      )}
      {actions.includes("discard") && (
        <button type="button" class="button danger" onClick={() => act("discard")}>
          <Icon name="trash" /> Discard {suffix}
        </button>
      )}
    </>
  );
}
