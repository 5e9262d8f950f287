import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { SECOND } from "../../base/duration.js";
import { LIMITS } from "../../protocol/limits.js";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { hasTimeRange, withoutTimeRange } from "../state/search-terms.js";
import { workOf } from "../state/work.js";
import { formatCount, formatMs, formatSpan } from "../text/format.js";
import { Icon } from "../ui/icon.js";
import { measureAnswerTimes } from "./answer-times.js";
import { groupByTime } from "./time-buckets.js";
import { TimeChart, TimeLegend } from "./time-chart.js";

/** The strip ends now; one of a chosen time ends with its last delivery. */
const until = signal(Date.now());
const buckets = computed(() => groupByTime(captures.value, workOf, hasTimeRange(query.value) ? 0 : until.value));
const answerTimes = computed(() => measureAnswerTimes(captures.value));

/** Above the list: what became of the deliveries over time, and how long the answers took. */
export function ListChart() {
  useEffect(() => {
    const timer = setInterval(() => (until.value = Date.now()), 15 * SECOND);
    return () => clearInterval(timer);
  }, []);
  // One delivery needs no chart.
  if (totalCaptures.value < 2 || captures.value.length === 0) return null;
  return (
    <section class="list-chart" aria-label="Deliveries over time">
      <div class="list-chart-head">
        <TimeLegend buckets={buckets.value} />
        <span class="spring" />
        {hasTimeRange(query.value) && (
          <button type="button" class="link" onClick={() => setQuery(withoutTimeRange(query.value))}>
            <Icon name="cross" /> All times
          </button>
        )}
        <AnswerTimesInWords />
      </div>
      <TimeChart buckets={buckets.value} />
    </section>
  );
}

/** Such as `answers: median 12 ms, 95 % within 80 ms, 2 after 5 s`. */
function AnswerTimesInWords() {
  if (answerTimes.value === undefined) return null;
  const { median, p95, late } = answerTimes.value;
  return (
    <span class="hint answer-times">
      answers: median <b>{formatMs(median)}</b>, 95 % within <b>{formatMs(p95)}</b>
      {late > 0 && (
        <span class="warn">
          , {formatCount(late)} after {formatSpan(LIMITS.deliveryTimeoutMs)}
        </span>
      )}
    </span>
  );
}
