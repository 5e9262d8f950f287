import { computed } from "@preact/signals";
import { readParam, setParams } from "../state/address.js";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { hasTimeRange, withoutTimeRange } from "../state/time-range.js";
import { workOf } from "../state/work.js";
import { Icon } from "../ui/icon.js";
import { AnswerTimesChart, AnswerTimesInWords } from "./answer-times-chart.js";
import { measureAnswerTimes } from "./answer-times.js";
import { groupByTime } from "./time-buckets.js";
import { TimeChart, TimeLegend } from "./time-chart.js";

const buckets = computed(() => groupByTime(captures.value, workOf));
const answerTimes = computed(() => measureAnswerTimes(captures.value));

const CHARTS = [
  { name: "", label: "Outcomes", meaning: "Deliveries over time" },
  { name: "answer-times", label: "Answer times", meaning: "Answer times" },
] as const;

/** One chart of the listed deliveries: what became of them over time, or how long the answers took. */
export function ListChart() {
  // One delivery needs no chart.
  if (totalCaptures.value < 2 || captures.value.length === 0) return null;
  const shown = CHARTS.find(({ name }) => name === readParam("chart")) ?? CHARTS[0];
  return (
    <section class="list-chart" aria-label={shown.meaning}>
      <div class="list-chart-head">
        <div class="segments small" role="group" aria-label="Chart">
          {CHARTS.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              aria-pressed={shown.name === name}
              onClick={() => setParams({ chart: name })}
            >
              {label}
            </button>
          ))}
        </div>
        {shown.name === "" ? <TimeLegend buckets={buckets.value} /> : <TimesInWords />}
        <span class="spring" />
        {hasTimeRange(query.value) && (
          <button type="button" class="link" onClick={() => setQuery(withoutTimeRange(query.value))}>
            <Icon name="cross" /> All times
          </button>
        )}
      </div>
      {shown.name === "" ? <TimeChart buckets={buckets.value} /> : <Times />}
    </section>
  );
}

function TimesInWords() {
  const times = answerTimes.value;
  return times === undefined ? <span class="hint">No answers yet</span> : <AnswerTimesInWords times={times} />;
}

function Times() {
  const times = answerTimes.value;
  return times === undefined ? null : <AnswerTimesChart times={times} />;
}
