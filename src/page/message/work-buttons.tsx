import { NOTE_HANDLER } from "../../base/note-handler.js";
import { hasEnded } from "../../store/state-words.js";
import { isStopped } from "../../operator/states.js";
import type { EventView } from "../../store/inbox-view.js";
import { mayOperate } from "../state/session.js";
import { changeEvents, mayRetry, mayRunNow } from "../state/work.js";
import type { JobAction } from "../../store/bulk-jobs.js";
import { ActionButton } from "../ui/action-button.js";

/**
 * Retry for work that has stopped and for an event that no handler got, Run now for work that waits for its next run,
 * Discard for work that is not finished.
 */
export function WorkButtons({ event }: { event: Pick<EventView, "id" | "handlers" | "test" | "state"> }) {
  if (!mayOperate.value) return null;
  const isNote = event.handlers.some((work) => work.handler === NOTE_HANDLER && isStopped(work));
  const change = (action: JobAction) => () => changeEvents([event.id], action);
  return (
    <>
      {mayRetry(event) && (
        <ActionButton action="retry" {...(isNote && { label: "Read it again" })} run={change("retry")} />
      )}
      {mayRunNow(event) && <ActionButton action="run" run={change("run")} />}
      {!hasEnded(event.state) && <ActionButton action="discard" run={change("discard")} />}
    </>
  );
}
