import { useState } from "preact/hooks";
import { shownAnswer } from "../../capture/model/answer-advice.js";
import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import { CompareAttempts } from "../compare/compare-attempts.js";
import { readParam, setParams } from "../state/address.js";
import { StatusBadge } from "../ui/badges.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatMs, formatTime } from "../ui/format.js";
import { AnswerView } from "../message/answer-view.js";
import { AnswerTab } from "./answer-tab.js";

/** Every POST of the capture to an app. Two selected ones are compared. */
export function AttemptsTab({ capture }: { capture: Capture }) {
  const [picked, setPicked] = useState<readonly number[]>([]);
  const { attempts } = capture;
  if (attempts.length === 0) return <AnswerTab capture={capture} />;
  const shown = attempts.find(({ n }) => String(n) === readParam("attempt")) ?? attempts.at(-1);
  const [first, second] = attempts.filter(({ n }) => picked.includes(n));

  // A third choice replaces the older of the two.
  const pick = (n: number) =>
    setPicked(picked.includes(n) ? picked.filter((other) => other !== n) : [...picked.slice(-1), n]);

  return (
    <div class="attempts-tab">
      <table class="attempt-table" aria-label="Attempts">
        <thead>
          <tr>
            <th scope="col" class="choose">
              <span class="unseen">Compare</span>
            </th>
            <th scope="col">#</th>
            <th scope="col">What</th>
            <th scope="col">Time</th>
            <th scope="col">Answer</th>
            <th scope="col" class="number">
              Took
            </th>
            <th scope="col">To</th>
          </tr>
        </thead>
        <tbody>
          {attempts.toReversed().map((attempt) => (
            <AttemptRow
              key={attempt.n}
              attempt={attempt}
              isShown={attempt === shown && second === undefined}
              isPicked={picked.includes(attempt.n)}
              onShow={() => {
                setPicked([]);
                setParams({ attempt: String(attempt.n) });
              }}
              onPick={() => pick(attempt.n)}
            />
          ))}
        </tbody>
      </table>
      {attempts.length > 1 && second === undefined && (
        <p class="hint">Tick two attempts to see what differs between their answers.</p>
      )}
      {first !== undefined && second !== undefined ? (
        <CompareAttempts before={first} after={second} />
      ) : (
        shown !== undefined && <AnswerView key={shown.n} attempt={shown} capture={capture} canRunAgain />
      )}
    </div>
  );
}

interface AttemptRowOptions {
  attempt: CaptureAttempt;
  isShown: boolean;
  isPicked: boolean;
  onShow: () => void;
  onPick: () => void;
}

function AttemptRow({ attempt, isShown, isPicked, onShow, onPick }: AttemptRowOptions) {
  return (
    <tr class={isShown ? "shown" : ""} onClick={onShow}>
      <td class="choose">
        <input
          type="checkbox"
          aria-label={`Compare attempt ${attempt.n}`}
          checked={isPicked}
          onClick={(event) => event.stopPropagation()}
          onChange={onPick}
        />
      </td>
      <td>
        <button type="button" class="link" aria-label={`Show attempt ${attempt.n}`} aria-pressed={isShown}>
          {attempt.n}
        </button>
      </td>
      <td>
        <span class="attempt-kind">
          <Icon name={attempt.kind === "forward" ? "arrow" : "replay"} />
          {describeAttempt(attempt)}
        </span>
      </td>
      <td title={formatExactTime(attempt.at)}>{formatTime(attempt.at)}</td>
      <td>
        <StatusBadge answer={shownAnswer(attempt)} error={attempt.error} />
      </td>
      <td class="number">{formatMs(attempt.ms)}</td>
      <td class="target" title={attempt.target}>
        {attempt.target.replace(/^https?:\/\//, "")}
      </td>
    </tr>
  );
}

function describeAttempt({ kind, mode, eventId, sentBody }: CaptureAttempt): string {
  if (kind === "forward") return "forwarded as it came";
  const parts = [kind, mode === "exact" ? "exact" : "signed again"];
  if (eventId !== null) parts.push("new id");
  else if (sentBody !== null) parts.push("edited");
  return parts.join(", ");
}
