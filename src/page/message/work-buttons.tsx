import { NOTE_HANDLER } from "../../base/note-handler.js";
import { hasEnded, isStopped } from "../../operator/states.js";
import type { EventView } from "../../operator/inbox-rows.js";
import { mayOperate } from "../state/session.js";
import { changeEvents, mayRetry, mayRunNow } from "../state/work.js";
import { Button } from "../ui/button.js";

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
        <Button
          icon="replay"
          label={isNote ? "Read it again" : "Retry"}
          class="primary"
          run={() => changeEvents([event.id], "retry")}
        />
      )}
      {mayRunNow(event) && (
        <Button
          icon="clock"
          label="Run now"
          title="Without waiting for its next run; its attempts stay"
          run={() => changeEvents([event.id], "run")}
        />
      )}
      {!hasEnded(event.state) && (
        <Button icon="trash" label="Discard" class="danger" run={() => changeEvents([event.id], "discard")} />
      )}
    </>
  );
}
