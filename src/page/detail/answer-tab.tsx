import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import { isHeld } from "../../dev/forward/held-tag.js";
import { session } from "../state/session.js";
import { StatusBadge } from "../ui/badges.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatMs, formatTime } from "../ui/words.js";
import { BodyView } from "./body-view.js";
import { HeaderTable } from "./header-table.js";

/** The last answer of the app. */
export function AnswerTab({ capture }: { capture: Capture }) {
  const attempt = capture.attempts.at(-1);
  const held = isHeld(capture) && (
    <p class="remark warn">
      <Icon name="clock" /> Held: the sender was answered 202. The app gets it when it answers again and forwarding is
      not paused.
    </p>
  );
  if (attempt === undefined) {
    return (
      <div class="nothing">
        {held === false && <p>Not sent to an app: nothing was answered.</p>}
        {held}
        {session.value?.forwards.length === 0 && (
          <p class="hint">
            Start with --forward-to 3000 and every delivery goes on to your app, the answer back to the sender.
          </p>
        )}
      </div>
    );
  }
  return (
    <>
      {held}
      <AnswerView attempt={attempt} />
    </>
  );
}

/** One attempt's answer: status, headers, body. */
export function AnswerView({ attempt }: { attempt: CaptureAttempt }) {
  return (
    <div class="answer-view">
      <p class="facts">
        <StatusBadge status={attempt.status} error={attempt.error} />
        <span class="fact">{formatMs(attempt.ms)}</span>
        <span class="fact" title={formatExactTime(attempt.at)}>
          {formatTime(attempt.at)}
        </span>
        <code class="fact">{attempt.target}</code>
      </p>
      {attempt.error !== null && (
        <p class="remark bad">
          <Icon name="warning" /> {attempt.error}
        </p>
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
