import { judgeAnswer } from "../../capture/model/answer.js";
import type { PastDelivery, RetryLine } from "../../dev/api/page-api.js";
import { openCapture } from "../state/selection.js";
import { TONES } from "../state/tones.js";
import { StatusBadge } from "../ui/badges.js";
import { formatExactTime, formatTime, formatWait, plural } from "../ui/format.js";

interface RetryTimesOptions {
  line: RetryLine;
  /** Id of the capture that is shown. */
  openId: string;
}

/** The service's attempts at an event on one line: past ones solid, coming ones hollow. Nothing for a single one. */
export function RetryTimes({ line: { past, coming }, openId }: RetryTimesOptions) {
  if (past.length + coming.length < 2) return null;
  const times = [...past.map(({ receivedAt }) => receivedAt), ...coming].map((at) => Date.parse(at));
  return (
    <section class="retry-times" aria-label="Attempts of the service">
      <p class="hint">{describeLine(past.length, coming.length)}</p>
      <ol>
        {times.map((at, index) => {
          const delivery = past[index];
          const before = times[index - 1];
          return (
            <li key={index} class={delivery === undefined ? "coming" : toneOf(delivery)} title={formatExactTime(at)}>
              <span class="retry-wait">{before !== undefined && `+ ${formatWait(at - before)}`}</span>
              <span class="retry-dot" />
              {delivery === undefined ? (
                <span>attempt {index + 1}</span>
              ) : (
                <button
                  type="button"
                  class="link"
                  aria-current={delivery.captureId === openId}
                  onClick={() => openCapture(delivery.captureId)}
                >
                  <StatusBadge answer={delivery} error={delivery.error} />
                </button>
              )}
              <span class="hint">{formatTime(at)}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function toneOf(delivery: PastDelivery): string {
  return delivery.status === null && delivery.error === null ? "mute" : TONES[judgeAnswer(delivery)];
}

function describeLine(received: number, coming: number): string {
  const past = `Received ${plural(received, "time")}.`;
  if (coming === 0) return `${past} After the last answer the service does not send it again.`;
  return `${past} After the last answer the service sends it up to ${plural(coming, "more time")}, each wait 10 % longer or shorter.`;
}
