import type { Capture } from "../../capture/model/capture.js";
import { session } from "../state/session.js";
import { AnswerView } from "../message/answer-view.js";

/** The last answer of the app. */
export function AnswerTab({ capture }: { capture: Capture }) {
  const attempt = capture.attempts.at(-1);
  if (attempt === undefined) {
    return (
      <div class="nothing">
        <p>Not sent to an app: nothing was answered.</p>
        {session.value?.forwards.length === 0 && (
          <p class="hint">
            Start with --forward-to 3000 and every delivery goes on to your app, the answer back to the sender.
          </p>
        )}
      </div>
    );
  }
  return <AnswerView key={attempt.n} attempt={attempt} capture={capture} canRunAgain />;
}
