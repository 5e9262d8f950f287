import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { SECOND } from "../../base/duration.js";
import { readParam, setParams } from "../state/address.js";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { hasTimeRange, withoutTimeRange } from "../state/search-terms.js";
import { workOf } from "../state/work.js";
import { Segments } from "../ui/segments.js";
import { Icon } from "../ui/icon.js";
import { measureAnswerTimes, type AnswerTimes } from "./answer-times.js";
import { groupByTime } from "./time-buckets.js";
import { TimeChart, TimeLegend } from "./time-chart.js";
import { formatMs, plural } from "../text/format.js";
import { TimesChart } from "./times-chart.js";

/** The strip ends now; one of a chosen time ends with its last delivery. */
const until = signal(Date.now());
const buckets = computed(() => groupByTime(captures.value, workOf, hasTimeRange(query.value) ? 0 : until.value));
const answerTimes = computed(() => measureAnswerTimes(captures.value));

const CHARTS = [
  { name: "", label: "Outcomes", meaning: "Deliveries over time" },
  { name: "answer-times", label: "Answer times", meaning: "Answer times" },
] as const;

/** One chart above the list: what became of the deliveries over time, or how long answers took. */
export function ListChart() {
  const shown = CHARTS.find(({ name }) => name === readParam("chart")) ?? CHARTS[0];
  useEffect(() => {
    const timer = setInterval(() => (until.value = Date.now()), 15 * SECOND);
    return () => clearInterval(timer);
  }, []);
  // One delivery needs no chart.
  if (totalCaptures.value < 2 || captures.value.length === 0) return null;
  return (
    <section class="list-chart" aria-label={shown.meaning}>
      <div class="list-chart-head">
        <Segments label="Chart" choices={CHARTS} current={shown.name} choose={(chart) => setParams({ chart })} />
        {shown.name === "" ? <TimeLegend buckets={buckets.value} /> : <AnswerTimesInWords times={answerTimes.value} />}
        <span class="spring" />
        {hasTimeRange(query.value) && (
          <button type="button" class="link" onClick={() => setQuery(withoutTimeRange(query.value))}>
            <Icon name="cross" /> All times
          </button>
        )}
      </div>
      {shown.name === "" && <TimeChart buckets={buckets.value} />}
      {shown.name !== "" && answerTimes.value !== undefined && <TimesChart bins={answerTimes.value.bins} />}
    </section>
  );
}

/** Such as `median 12 ms · 95 % within 80 ms · 118 answers`. */
function AnswerTimesInWords({ times }: { times: AnswerTimes | undefined }) {
  if (times === undefined) return <span class="hint">No answers yet</span>;
  const { count, median, p95 } = times;
  return (
    <span class="legend">
      median <b>{formatMs(median)}</b> · 95 % within <b>{formatMs(p95)}</b> · {plural(count, "answer")}
    </span>
  );
}
