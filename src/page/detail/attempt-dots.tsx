import { judgeShown } from "../../capture/model/answer-advice.js";
import { formatWait } from "../state/format-wait.js";
import { openCapture } from "../state/capture-selection.js";
import { TONES } from "../state/tones.js";
import { StatusBadge } from "../ui/badges.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import type { AttemptLine, PastAttempt } from "./sandbox-attempts.js";

/** Attempts on one line: past ones solid, coming ones hollow. `openId`: the capture that is open. */
export function AttemptDots({ line: { past, coming }, openId }: { line: AttemptLine; openId?: string }) {
  const times = [...past.map(({ receivedAt }) => receivedAt), ...coming].map((at) => Date.parse(at));
  return (
    <ol class="retry-line">
      {times.map((at, index) => {
        const attempt = past[index];
        const before = times[index - 1];
        return (
          <li key={index} class={attempt === undefined ? "coming" : toneOf(attempt)} title={formatExactTime(at)}>
            <span class="retry-wait">{before !== undefined && `+ ${formatWait(at - before)}`}</span>
            <span class="retry-dot" />
            {attempt === undefined ? (
              <span>attempt {index + 1}</span>
            ) : (
              <Attempt attempt={attempt} isOpen={attempt.captureId !== null && attempt.captureId === openId} />
            )}
            <span class="hint">{formatTime(at)}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** The answer; a click opens the capture, where there is one. */
function Attempt({ attempt, isOpen }: { attempt: PastAttempt; isOpen: boolean }) {
  const { captureId, error } = attempt;
  const badge = <StatusBadge answer={attempt} error={error} />;
  if (captureId === null) return badge;
  return (
    <button type="button" class="link" aria-current={isOpen} onClick={() => openCapture(captureId)}>
      {badge}
    </button>
  );
}

function toneOf(attempt: PastAttempt): string {
  return attempt.status === null && attempt.error === null ? "mute" : TONES[judgeShown(attempt)];
}
