import { computed } from "@preact/signals";
import { LIMITS } from "../../protocol/limits.js";
import { readParam, setParams } from "../state/address.js";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { useHandlerTimes } from "../state/handler-times.js";
import { hasTimeRange, withoutTimeRange } from "../state/time-range.js";
import { workOf } from "../state/work.js";
import { Icon } from "../ui/icon.js";
import { AnswerTimesInWords } from "./answer-times-in-words.js";
import { measureAnswerTimes } from "./answer-times.js";
import { HandlerTimesChart } from "./handler-times-chart.js";
import { HandlerTimesInWords } from "./handler-times-in-words.js";
import { groupByTime } from "./time-buckets.js";
import { TimeChart, TimeLegend } from "./time-chart.js";
import { TimesChart } from "./times-chart.js";

const buckets = computed(() => groupByTime(captures.value, workOf));
const answerTimes = computed(() => measureAnswerTimes(captures.value));

const CHARTS = [
  { name: "", label: "Outcomes", meaning: "Deliveries over time" },
  { name: "answer-times", label: "Answer times", meaning: "Answer times" },
  { name: "handler-times", label: "Handler times", meaning: "Handler times" },
] as const;

/** One chart above the list: what became of the deliveries over time, or how long answers or handlers took. */
export function ListChart() {
  const shown = CHARTS.find(({ name }) => name === readParam("chart")) ?? CHARTS[0];
  useHandlerTimes(shown.name === "handler-times");
  // One delivery needs no chart.
  if (totalCaptures.value < 2 || captures.value.length === 0) return null;
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
        <Words chart={shown.name} />
        <span class="spring" />
        {hasTimeRange(query.value) && (
          <button type="button" class="link" onClick={() => setQuery(withoutTimeRange(query.value))}>
            <Icon name="cross" /> All times
          </button>
        )}
      </div>
      <Chart chart={shown.name} />
    </section>
  );
}

type ChartName = (typeof CHARTS)[number]["name"];

/** What the chart says, beside its name. */
function Words({ chart }: { chart: ChartName }) {
  if (chart === "") return <TimeLegend buckets={buckets.value} />;
  if (chart === "handler-times") return <HandlerTimesInWords />;
  const times = answerTimes.value;
  return times === undefined ? <span class="hint">No answers yet</span> : <AnswerTimesInWords times={times} />;
}

function Chart({ chart }: { chart: ChartName }) {
  if (chart === "") return <TimeChart buckets={buckets.value} />;
  if (chart === "handler-times") return <HandlerTimesChart />;
  const times = answerTimes.value;
  return times === undefined ? null : <TimesChart bins={times.bins} what="answer" limit={LIMITS.deliveryTimeoutMs} />;
}
