import { Time } from "../ui/time.js";
import { FORWARD_FLAG, answerAdvice, seenAnswer, shownAnswer } from "../../capture/model/answer-advice.js";
import { answerHead, judgeAnswer, whyNotRun } from "../../capture/model/answer.js";
import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import { sentEventId } from "../../capture/model/sent-event-id.js";
import type { EventView } from "../../store/inbox-view.js";
import { replay } from "../state/actions.js";
import { session } from "../state/session.js";
import { works } from "../state/work.js";
import { StatusBadge, WorkBadge } from "../ui/badges.js";
import { Button } from "../ui/button.js";
import { Remark } from "../ui/remark.js";
import type { ReplayBody } from "../../dev/api/page-api.js";
import { bodyAsText, BodyView } from "./body-view.js";
import { formatMs } from "../text/format.js";
import { HeaderTable } from "./header-table.js";

interface AnswerViewOptions {
  attempt: CaptureAttempt;
  capture: Capture;
  /** Offers to run what was not run; not where the answer is that of an editor, which can do it itself. */
  canRunAgain?: boolean;
}

/** One attempt's answer: status, outcome, headers, body. */
export function AnswerView({ attempt, capture, canRunAgain = false }: AnswerViewOptions) {
  const sent = attempt.kind === "replay" ? "replay" : "delivery";
  const why = whyNotRun(answerHead(attempt), sent);
  const advice = adviceOn(attempt, capture);
  return (
    <div class="answer-view">
      <p class="facts">
        <StatusBadge answer={shownAnswer(attempt)} error={attempt.error} />
        <WorkBadge work={workAfter(attempt, capture)} />
        <span class="fact">{formatMs(attempt.ms)}</span>
        <Time at={attempt.at} class="fact" />
        <code class="fact">{attempt.target}</code>
      </p>
      {attempt.error !== null && <Remark tone="bad">{attempt.error}</Remark>}
      {advice !== undefined && <Remark tone="warn">{advice}</Remark>}
      {why !== undefined && (
        <Remark tone="warn" text={`${why}.`}>
          {canRunAgain && capture.event.id !== null && (
            <Button
              icon="replay"
              label="Run again under a new id"
              class="small"
              run={() => replay(againUnderNewId(capture, attempt))}
            />
          )}
        </Remark>
      )}
      {attempt.body !== null && (
        <>
          <h3>Body</h3>
          <BodyView body={attempt.body} label="Answer body" />
        </>
      )}
      {attempt.headers.length > 0 && (
        <>
          <h3>Headers</h3>
          <HeaderTable headers={attempt.headers} label="Answer headers" />
        </>
      )}
      {attempt.sentBody !== null && (
        <>
          <h3>Body that was sent instead of the captured one</h3>
          <BodyView body={attempt.sentBody} label="Sent body" />
        </>
      )}
    </div>
  );
}

/** The same attempt, with the edited body if it had one and to the same target, under an id that no receiver has. */
function againUnderNewId({ id }: Pick<Capture, "id">, { sentBody, target }: CaptureAttempt): ReplayBody {
  const edit = sentBody === null ? {} : { body: bodyAsText(sentBody) };
  return { ids: [id], mode: "resign", sameId: false, target, ...edit };
}

/** The work on the event that the attempt brought, if it is known; nothing where the app has not taken it. */
function workAfter(attempt: CaptureAttempt, capture: Capture): EventView | undefined {
  const eventId = sentEventId(capture, attempt);
  if (eventId === null || judgeAnswer(answerHead(attempt)) === "bad") return undefined;
  return works.value.get(eventId);
}

function adviceOn(attempt: CaptureAttempt, { verify }: Capture): string | undefined {
  const isResigned = attempt.mode === "resign";
  return answerAdvice({
    ...seenAnswer(attempt),
    isSigned: isResigned || verify.code === "ok",
    secretRef: isResigned ? session.value?.secrets[0] : verify.secretRef,
    pathFlag: FORWARD_FLAG,
  });
}
