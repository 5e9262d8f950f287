import type { Capture } from "../../capture/model/capture.js";
import { isHeld } from "../../dev/forward/held-tag.js";
import { session } from "../state/session.js";
import { Remark } from "../ui/remark.js";
import { AnswerView } from "../message/answer-view.js";

/** The last answer of the app. */
export function AnswerTab({ capture }: { capture: Capture }) {
  const attempt = capture.attempts.at(-1);
  const held = isHeld(capture) && (
    <Remark tone="warn" icon="clock">
      Held: the sender was answered 202. The app gets it when it answers again and forwarding is not paused.
    </Remark>
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
      <AnswerView key={attempt.n} attempt={attempt} capture={capture} canRunAgain />
    </>
  );
}
