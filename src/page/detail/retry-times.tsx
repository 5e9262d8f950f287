import { judgeAnswer } from "../../capture/model/answer.js";
import type { CaptureDetail } from "../../dev/api/page-api.js";
import { advanceClock, useSandbox } from "../state/sandbox.js";
import { openCapture } from "../state/selection.js";
import { TONES } from "../state/tones.js";
import { StatusBadge } from "../ui/badges.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatTime, plural } from "../ui/format.js";
import { formatWait } from "../state/format-wait.js";
import { sandboxAttempts, type PastAttempt } from "./sandbox-attempts.js";

/**
 * The service's attempts at the event on one line: past ones solid, coming ones hollow. Nothing for a single one that
 * was taken. Of an event of the sandbox, by the sandbox's clock.
 */
export function RetryTimes({ value: { capture, retryLine } }: { value: CaptureDetail }) {
  const eventId = capture.event.id ?? "";
  const emulated = sandboxAttempts(useSandbox(), eventId);
  const { past, coming } = emulated ?? retryLine;
  const notComing = emulated === undefined ? retryLine.notComing : 0;
  if (past.length + coming.length + notComing < 2) return null;
  const times = [...past.map(({ receivedAt }) => receivedAt), ...coming].map((at) => Date.parse(at));
  return (
    <section class="retry-times" aria-label="Attempts of the service">
      <p class="hint">{describeLine({ past: past.length, coming: coming.length, notComing })}</p>
      <ol>
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
                <Attempt attempt={attempt} isOpen={attempt.captureId === capture.id} />
              )}
              <span class="hint">{formatTime(at)}</span>
            </li>
          );
        })}
      </ol>
      {emulated !== undefined && coming.length > 0 && (
        <button type="button" class="button" onClick={() => void advanceClock({ toNext: eventId })}>
          <Icon name="clock" /> Advance to the next attempt
        </button>
      )}
    </section>
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

function toneOf({ status, outcome, error }: PastAttempt): string {
  return status === null && error === null ? "mute" : TONES[judgeAnswer({ status, outcome })];
}

function describeLine({ past, coming, notComing }: { past: number; coming: number; notComing: number }): string {
  const before = `${plural(past, "attempt")} so far.`;
  if (notComing > 0) {
    return `${before} Nothing sends it again, since it was sent by hand or imported. The service would, up to ${plural(notComing, "more time")}.`;
  }
  if (coming === 0) return `${before} After the last answer the service does not send it again.`;
  return `${before} After the last answer the service sends it up to ${plural(coming, "more time")}, each wait 10 % longer or shorter.`;
}
