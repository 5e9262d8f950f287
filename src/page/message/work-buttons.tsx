import { NOTE_HANDLER } from "../../base/note-handler.js";
import { hasEnded, isStopped } from "../../operator/states.js";
import type { EventView } from "../../operator/inbox-rows.js";
import { mayOperate } from "../state/session.js";
import { changeEvents, mayRetry, mayRunNow } from "../state/work.js";
import { Icon } from "../ui/icon.js";

/**
 * Retry for work that has stopped and for an event that no handler got, Run now for work that waits for its next run,
 * Discard for work that is not finished.
 */
export function WorkButtons({ event }: { event: Pick<EventView, "id" | "handlers" | "test" | "state"> }) {
  if (!mayOperate.value) return null;
  const isNote = event.handlers.some((work) => work.handler === NOTE_HANDLER && isStopped(work));
  return (
    <>
      {mayRetry(event) && (
        <button type="button" class="button primary" onClick={() => void changeEvents([event.id], "retry")}>
          <Icon name="replay" /> {isNote ? "Read it again" : "Retry"}
        </button>
      )}
      {mayRunNow(event) && (
        <button
          type="button"
          class="button"
          title="Without waiting for its next run; its attempts stay"
          onClick={() => void changeEvents([event.id], "run")}
        >
          <Icon name="clock" /> Run now
        </button>
      )}
      {!hasEnded(event.state) && (
        <button type="button" class="button danger" onClick={() => void changeEvents([event.id], "discard")}>
          <Icon name="trash" /> Discard
        </button>
      )}
    </>
  );
}
