import { formatMs, plural } from "../ui/format.js";
import type { AnswerTimes } from "./answer-times.js";

/** Such as `median 12 ms · 95 % within 80 ms · 118 answers`. */
export function AnswerTimesInWords({ times: { count, median, p95 } }: { times: AnswerTimes }) {
  return (
    <span class="legend">
      median <b>{formatMs(median)}</b> · 95 % within <b>{formatMs(p95)}</b> · {plural(count, "answer")}
    </span>
  );
}
