import { replayElsewhere } from "../detail/target-dialog.js";
import { copyCurl, exportAs, remove, replay, share, togglePin } from "../state/actions.js";
import { captureSelection } from "../state/capture-selection.js";
import { EXPORT_CHOICES } from "../detail/export-choices.js";
import { ChooseNone } from "../ui/icon-button.js";
import { Icon, type IconName } from "../ui/icon.js";
import { Menu } from "../ui/menu.js";
import type { EventView } from "../../operator/inbox-rows.js";
import type { JobAction } from "../../web/api/jobs.js";
import { captures } from "../state/captures.js";
import { changeEvents, mayRetry, mayRunNow, workOf } from "../state/work.js";
import { formatCount } from "../ui/format.js";

/** What can be done about the work of handlers on the chosen deliveries. */
function WorkActions({ events }: { events: readonly EventView[] }) {
  const button = (icon: IconName, label: string, action: JobAction, those: readonly EventView[]) => {
    const change = async () => {
      const ids = those.map(({ id }) => id);
      if (await changeEvents(ids, action)) captureSelection.clear();
    };
    return (
      those.length > 0 && (
        <button type="button" class="button" onClick={() => void change()}>
          <Icon name={icon} /> {label} ({those.length})
        </button>
      )
    );
  };
  return (
    <>
      {button("replay", "Retry", "retry", events.filter(mayRetry))}
      {button("clock", "Run now", "run", events.filter(mayRunNow))}
      {button(
        "minus",
        "Discard",
        "discard",
        events.filter(({ state }) => state !== "done"),
      )}
    </>
  );
}

/** Actions for the selected captures. */
export function SelectionBar() {
  const chosen = captureSelection.inSight.value;
  const count = chosen.length;
  if (count === 0) return null;
  const ids = new Set(chosen);
  const found = captures.value.flatMap((row) => (ids.has(row.id) ? (workOf(row) ?? []) : []));
  // Two deliveries may be of one event.
  const events = [...new Set(found)];
  return (
    <div class="selection-bar" role="toolbar" aria-label="Chosen deliveries">
      <span class="selection-count">{formatCount(count)} chosen</span>
      <button type="button" class="button primary" onClick={() => void replay({ ids: chosen, mode: "resign" })}>
        <Icon name="replay" /> Replay ({formatCount(count)})
      </button>
      <button type="button" class="button" title="Replay to another URL (R)" onClick={() => replayElsewhere(chosen)}>
        To…
      </button>
      <Menu
        label="Export"
        items={EXPORT_CHOICES.map(({ as, label, hint }) => ({ label, hint, run: () => void exportAs(chosen, as) }))}
      >
        <Icon name="download" /> Export <Icon name="chevron" />
      </Menu>
      <button
        type="button"
        class="button"
        title="Save a file to share: addresses, texts, signatures and answers removed"
        onClick={() => void share(chosen)}
      >
        <Icon name="share" /> Share
      </button>
      {count === 1 && (
        <button type="button" class="button" onClick={() => void copyCurl(chosen[0] ?? "")}>
          <Icon name="copy" /> cURL
        </button>
      )}
      <button type="button" class="button" onClick={() => void togglePin(chosen)}>
        <Icon name="pin" /> Pin
      </button>
      <button type="button" class="button danger" onClick={() => void remove(chosen)}>
        <Icon name="trash" /> Delete
      </button>
      <WorkActions events={events} />
      <ChooseNone onClick={captureSelection.clear} />
    </div>
  );
}
