import { useEffect } from "preact/hooks";
import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import { sentEventId } from "../../capture/model/sent-event-id.js";
import { describeWork } from "../../operator/describe-work.js";
import { isRetrying, isStopped } from "../../operator/work-word.js";
import { replay } from "../state/actions.js";
import { reportProblem } from "../state/notice.js";
import { session } from "../state/session.js";
import { readWork, works } from "../state/work.js";
import { Icon } from "../ui/icon.js";
import type { ReplayBody } from "../../dev/api/page-api.js";
import { bodyAsText } from "./body-bytes.js";
import { WorkButtons } from "./work-buttons.js";

interface NotRunOptions {
  attempt: CaptureAttempt;
  capture: Capture;
  /** What happened, without the full stop. */
  why: string;
  canRunAgain: boolean;
}

/** Why no handler ran for an attempt that was answered 2xx, and what to do about it. */
export function NotRun({ attempt, capture, why, canRunAgain }: NotRunOptions) {
  const id = sentEventId(capture, attempt);
  const hasInbox = session.value?.inbox === true;
  const event = id === null ? undefined : works.value.get(id);
  const stopped = event?.handlers.filter((work) => isStopped(work) || isRetrying(work)) ?? [];
  useEffect(() => {
    if (hasInbox && id !== null) readWork(id).catch(reportProblem);
  }, [id, hasInbox]);
  return (
    <div class="remark warn not-run">
      <Icon name="warning" />
      <div>
        <p>{why}.</p>
        {stopped.map((handler) => (
          <p key={handler.handler}>{describeWork(handler)}</p>
        ))}
        {!hasInbox && <p class="hint">Start with --inbox and the app's database to see what its handlers did.</p>}
        <div class="not-run-actions">
          {canRunAgain && capture.event.id !== null && (
            <button type="button" class="button small" onClick={() => void replay(againUnderNewId(capture, attempt))}>
              <Icon name="replay" /> Run again under a new id
            </button>
          )}
          {event !== undefined && <WorkButtons event={event} />}
        </div>
      </div>
    </div>
  );
}

/** The same attempt, with the edited body if it had one and to the same target, under an id that no receiver has. */
function againUnderNewId({ id }: Pick<Capture, "id">, { sentBody, target }: CaptureAttempt): ReplayBody {
  const edit = sentBody === null ? {} : { body: bodyAsText(sentBody) };
  return { ids: [id], mode: "resign", sameId: false, target, ...edit };
}
