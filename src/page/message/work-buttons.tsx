import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { InboxEvent } from "../../dev/api/page-api.js";
import { retryWork } from "../state/retry-work.js";
import { discardWork, isStopped } from "../state/work.js";
import { Icon } from "../ui/icon.js";

/** Retry for work that has stopped, Discard for work that is not finished. */
export function WorkButtons({ event }: { event: InboxEvent }) {
  if (event.state === "done") return null;
  const stopped = event.handlers.filter(isStopped);
  return (
    <>
      {stopped.length > 0 && (
        <button type="button" class="button primary" onClick={() => void retryWork(event.id)}>
          <Icon name="replay" /> {stopped.some(({ handler }) => handler === NOTE_HANDLER) ? "Read it again" : "Retry"}
        </button>
      )}
      <button type="button" class="button danger" onClick={() => void discardWork(event.id)}>
        <Icon name="trash" /> Discard
      </button>
    </>
  );
}
