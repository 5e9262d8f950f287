import { SECOND } from "../../base/duration.js";
import { formatMs, plural } from "../ui/format.js";
import type { AnswerTimes, AnswerTimesBin } from "./answer-times.js";

/** Number of answers by the time that they took. */
export function AnswerTimesChart({ times: { bins } }: { times: AnswerTimes }) {
  const most = Math.max(...bins.map(({ count }) => count));
  return (
    <ol class="answer-times" aria-label="Number of answers by the time that they took">
      {bins.map((bin) => (
        <li key={bin.from} title={describeBin(bin)}>
          <span class="unseen">{describeBin(bin)}</span>
          <span class="answer-times-room" aria-hidden="true">
            {bin.count > 0 && <span class="time-part accent" style={{ height: `${(100 * bin.count) / most}%` }} />}
          </span>
          <span class="answer-times-bound" aria-hidden="true">
            {formatBound(bin.from)}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Such as `median 12 ms · 95 % within 80 ms · 118 answers`. */
export function AnswerTimesInWords({ times: { count, median, p95 } }: { times: AnswerTimes }) {
  return (
    <span class="legend">
      median <b>{formatMs(median)}</b> · 95 % within <b>{formatMs(p95)}</b> · {plural(count, "answer")}
    </span>
  );
}

function describeBin({ from, to, count }: AnswerTimesBin): string {
  const range =
    to === Number.POSITIVE_INFINITY ? `${formatBound(from)} or longer` : `${formatBound(from)} to ${formatBound(to)}`;
  return `${range}: ${count === 0 ? "no answers" : plural(count, "answer")}`;
}

function formatBound(ms: number): string {
  return ms < SECOND ? `${ms} ms` : `${ms / SECOND} s`;
}
