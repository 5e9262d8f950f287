import { ChooseNone } from "../ui/choose-none.js";
import { Icon } from "../ui/icon.js";
import { changeEvents, chosenEvents, clearChosenEvents } from "./inbox-state.js";

/** Actions for the selected events. */
export function EventSelection() {
  const ids = [...chosenEvents.value];
  if (ids.length === 0) return null;
  return (
    <div class="selection-bar" role="toolbar" aria-label="Chosen events">
      <span class="selection-count">{ids.length} chosen</span>
      <button type="button" class="button primary" title="Retry (r)" onClick={() => void changeEvents(ids, "retry")}>
        <Icon name="replay" /> Retry ({ids.length})
      </button>
      <button
        type="button"
        class="button danger"
        title="Discard (Del)"
        onClick={() => void changeEvents(ids, "discard")}
      >
        <Icon name="trash" /> Discard ({ids.length})
      </button>
      <ChooseNone onClick={clearChosenEvents} />
    </div>
  );
}
