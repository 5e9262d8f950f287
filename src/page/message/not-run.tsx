import { NOTE_HANDLER } from "../../base/note-handler.js";
import { useEffect, useState } from "preact/hooks";
import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import { describeWork } from "../../capture/model/describe-work.js";
import type { InboxHandler } from "../../dev/api/page-api.js";
import { replay } from "../state/actions.js";
import { findStoppedWork, retryWork } from "../state/stopped-work.js";
import { session } from "../state/session.js";
import { Icon } from "../ui/icon.js";
import { againUnderNewId } from "./again-under-new-id.js";

interface NotRunOptions {
  attempt: CaptureAttempt;
  capture: Capture;
  /** What happened, without the full stop. */
  why: string;
  canRunAgain: boolean;
}

/** Why no handler ran for an attempt that was answered 2xx, and what to do about it. */
export function NotRun({ attempt, capture, why, canRunAgain }: NotRunOptions) {
  const id = attempt.eventId ?? capture.event.id;
  const hasInbox = session.value?.inbox === true;
  const [work, setWork] = useState<readonly InboxHandler[]>([]);
  const loadWork = async () => setWork(hasInbox && id !== null ? await findStoppedWork(id) : []);
  useEffect(() => void loadWork(), [id, hasInbox]);
  return (
    <div class="remark warn not-run">
      <Icon name="warning" />
      <div>
        <p>{why}.</p>
        {work.map((handler) => (
          <p key={handler.handler}>{describeWork(handler)}</p>
        ))}
        {!hasInbox && <p class="hint">Start with --inbox and the app's SQLite file to see what its handlers did.</p>}
        <div class="not-run-actions">
          {canRunAgain && (
            <button type="button" class="button small" onClick={() => void replay(againUnderNewId(capture, attempt))}>
              <Icon name="replay" /> Run again under a new id
            </button>
          )}
          {work.length > 0 && id !== null && (
            <button type="button" class="button small" onClick={() => void retryWork(id).then(loadWork)}>
              <Icon name="replay" />{" "}
              {work.some(({ handler }) => handler === NOTE_HANDLER) ? "Read it again" : "Retry it"}
            </button>
          )}
        </div>
      </div>
    </div>
  );
}
