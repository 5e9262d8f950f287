import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { SECOND } from "../../base/duration.js";
import { LIMITS } from "../../protocol/limits.js";
import { readParam, setParams } from "../state/address.js";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { useHandlerTimes, shownHandler, handlerTimes } from "../state/handler-times.js";
import { hasTimeRange, withoutTimeRange } from "../state/time-range.js";
import { workOf } from "../state/work.js";
import { Icon } from "../ui/icon.js";
import { measureAnswerTimes, type AnswerTimes } from "./answer-times.js";
import { groupByTime } from "./time-buckets.js";
import { TimeChart, TimeLegend } from "./time-chart.js";
import { TimesChart } from "./times-chart.js";
import { formatMs, plural, formatCount } from "../ui/format.js";
import { formatRunTimeBound } from "../../base/run-time-bounds.js";
import { escapeControls } from "../../base/text.js";
import { session } from "../state/session.js";

/** The strip ends now; one of a chosen time ends with its last delivery. */
const until = signal(Date.now());
const buckets = computed(() => groupByTime(captures.value, workOf, hasTimeRange(query.value) ? 0 : until.value));
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
  useEffect(() => {
    const timer = setInterval(() => (until.value = Date.now()), 15 * SECOND);
    return () => clearInterval(timer);
  }, []);
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

/** Such as `median 12 ms · 95 % within 80 ms · 118 answers`. */
function AnswerTimesInWords({ times: { count, median, p95 } }: { times: AnswerTimes }) {
  return (
    <span class="legend">
      median <b>{formatMs(median)}</b> · 95 % within <b>{formatMs(p95)}</b> · {plural(count, "answer")}
    </span>
  );
}

/** Number of runs of the chosen handler by the time that they took. */
function HandlerTimesChart() {
  const shown = shownHandler();
  if (shown === undefined) return null;
  const bins = shown.buckets.map(({ fromMs, toMs, done, failed }) => {
    return { from: fromMs, to: toMs ?? Number.POSITIVE_INFINITY, done, failed };
  });
  return <TimesChart bins={bins} what="run" />;
}

/** The choice of a handler, and such as `median below 20 ms · 95 % below 100 ms · 118 runs, 3 failed`. */
function HandlerTimesInWords() {
  if (session.value?.inbox !== true) {
    return (
      <span class="hint">
        Not known: they are in the inbox of your app. Start with <code>pigeonhole dev --inbox inbox.db</code>.
      </span>
    );
  }
  const rows = handlerTimes.value;
  if (rows === null) return null;
  const shown = shownHandler();
  if (shown === undefined) return <span class="hint">No run in the last 8 days. New ones appear within 20 s.</span>;
  const { handler, runs, failed, medianMs, p95Ms } = shown;
  return (
    <>
      <select
        class="handler-choice"
        aria-label="Handler"
        value={handler}
        onChange={(event) => setParams({ handler: event.currentTarget.value })}
      >
        {rows.map((row) => (
          <option key={row.handler} value={row.handler}>
            {escapeControls(row.handler)}
          </option>
        ))}
      </select>
      <span class="legend" title="All its runs of the last 8 days, also those of deliveries that are not listed">
        median <b>{describeLimit(medianMs)}</b> · 95 % <b>{describeLimit(p95Ms)}</b> · {plural(runs, "run")}
        {failed > 0 && `, ${formatCount(failed)} failed`}
      </span>
    </>
  );
}

function describeLimit(ms: number | null): string {
  return ms === null ? "above 5 min" : `below ${formatRunTimeBound(ms)}`;
}
