import { judgeShown } from "../../capture/model/answer-advice.js";
import type { PastAttempt } from "../../dev/api/page-api.js";
import { openCapture } from "../state/captures.js";
import { advanceClock } from "../state/sandbox.js";
import { formatExactTime, formatSpan, formatTime } from "../text/format.js";
import { StatusBadge } from "../ui/badges.js";
import { Button } from "../ui/button.js";

interface AttemptDotsOptions {
  past: readonly PastAttempt[];
  /** ISO 8601. */
  coming: readonly string[];
  /** The capture that is open. */
  openId?: string;
}

/** Attempts on one line: past ones solid, coming ones hollow. */
export function AttemptDots({ past, coming, openId }: AttemptDotsOptions) {
  const times = [...past.map(({ at }) => at), ...coming].map((at) => Date.parse(at));
  return (
    <ol class="retry-line">
      {times.map((at, index) => {
        const attempt = past[index];
        const before = times[index - 1];
        return (
          <li key={index} class={attempt === undefined ? "coming" : toneOf(attempt)} title={formatExactTime(at)}>
            <span class="retry-wait">{before !== undefined && `+ ${formatSpan(at - before)}`}</span>
            <span class="retry-dot" />
            {attempt === undefined ? <span>attempt {index + 1}</span> : <Attempt attempt={attempt} openId={openId} />}
            <span class="hint">{formatTime(at)}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** The answer; a click opens the capture, where it is known: of the sandbox, some do not arrive, and some twice. */
function Attempt({ attempt, openId }: { attempt: PastAttempt; openId: string | undefined }) {
  const { captureId, error } = attempt;
  const badge = <StatusBadge answer={attempt} error={error} />;
  if (captureId === undefined) return badge;
  return (
    <button type="button" class="link" aria-current={captureId === openId} onClick={() => openCapture(captureId)}>
      {badge}
    </button>
  );
}

function toneOf(attempt: PastAttempt): string {
  return attempt.status === null && attempt.error === null ? "mute" : judgeShown(attempt);
}

/** Moves the sandbox's clock to the next attempt at the event, which is made then. */
export function AdvanceButton({ eventId }: { eventId: string }) {
  return <Button icon="clock" label="Advance to the next attempt" run={() => advanceClock({ toNext: eventId })} />;
}
