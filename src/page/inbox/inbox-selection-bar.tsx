import { ChooseNone } from "../ui/choose-none.js";
import { Icon } from "../ui/icon.js";
import { changeRows, chosenRowsInSight } from "./inbox-selection.js";
import { clearChosenRows, inboxTab } from "./inbox-state.js";

/** Actions for the selected events or contact events. */
export function InboxSelectionBar() {
  const rows = chosenRowsInSight();
  if (rows.length === 0) return null;
  const isEvents = inboxTab.value === "events";
  const label = isEvents ? "Chosen events" : "Chosen contact events";
  return (
    <div class="selection-bar" role="toolbar" aria-label={label}>
      <span class="selection-count">{rows.length} chosen</span>
      <button type="button" class="button primary" title="Retry (r)" onClick={() => void changeRows(rows, "retry")}>
        <Icon name="replay" /> Retry ({rows.length})
      </button>
      {isEvents && (
        <button type="button" class="button" title="Run now (R)" onClick={() => void changeRows(rows, "run")}>
          <Icon name="replay" /> Run now ({rows.length})
        </button>
      )}
      <button
        type="button"
        class="button danger"
        title="Discard (Del)"
        onClick={() => void changeRows(rows, "discard")}
      >
        <Icon name="trash" /> Discard ({rows.length})
      </button>
      <ChooseNone onClick={clearChosenRows} />
    </div>
  );
}
