import type { EventView } from "../../store/inbox-view.js";
import type { JobAction } from "../../store/bulk-jobs.js";
import { ExportMenu } from "../detail/action-bar.js";
import { replayElsewhere } from "../detail/replay-elsewhere.js";
import { copyCurl, remove, replay, share, togglePin } from "../state/actions.js";
import { captureSelection, captures } from "../state/captures.js";
import { changeEvents, mayRetry, mayRunNow, workOf } from "../state/work.js";
import { formatCount } from "../text/format.js";
import { CountedAction } from "../ui/action-button.js";
import { Button } from "../ui/button.js";
import { Icon } from "../ui/icon.js";
import { SelectionBar } from "../ui/selection-bar.js";

/** What can be done about the work of handlers on the chosen deliveries. */
function WorkActions({ events }: { events: readonly EventView[] }) {
  const change = (action: JobAction) => async (those: readonly EventView[]) => {
    const ids = those.map(({ id }) => id);
    if (await changeEvents(ids, action)) captureSelection.clear();
  };
  const isOpen = ({ state }: EventView): boolean => state !== "done";
  return (
    <>
      <CountedAction action="retry" class="" rows={events.filter(mayRetry)} run={change("retry")} />
      <CountedAction action="run" rows={events.filter(mayRunNow)} run={change("run")} />
      <CountedAction action="discard" class="" rows={events.filter(isOpen)} run={change("discard")} />
    </>
  );
}

/** Actions for the selected captures. */
export function CaptureBar() {
  const chosen = captureSelection.inSight.value;
  const count = chosen.length;
  if (count === 0) return null;
  const ids = new Set(chosen);
  const found = captures.value.flatMap((row) => (ids.has(row.id) ? (workOf(row) ?? []) : []));
  return (
    <SelectionBar label="Chosen deliveries" count={count} clear={captureSelection.clear}>
      <Button
        icon="replay"
        label={`Replay (${formatCount(count)})`}
        class="primary"
        run={() => replay({ ids: chosen, mode: "resign" })}
      />
      <Button label="To…" title="Replay to another URL (R)" run={() => replayElsewhere(chosen)} />
      <ExportMenu ids={chosen} class="button">
        <Icon name="download" /> Export <Icon name="chevron" />
      </ExportMenu>
      <Button
        icon="share"
        label="Share"
        title="Save a file to share: addresses, texts, signatures and answers removed"
        run={() => share(chosen)}
      />
      {count === 1 && <Button icon="copy" label="cURL" run={() => copyCurl(chosen[0] ?? "")} />}
      <Button icon="pin" label="Pin" run={() => togglePin(chosen)} />
      <Button icon="trash" label="Delete" class="danger" run={() => remove(chosen)} />
      {/* Two deliveries may be of one event. */}
      <WorkActions events={[...new Set(found)]} />
    </SelectionBar>
  );
}
