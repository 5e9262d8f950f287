import { computed, signal } from "@preact/signals";
import type { TargetedPointerEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { SECOND } from "../../base/duration.js";
import { LIMITS } from "../../protocol/limits.js";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { hasTimeRange, withTimeRange, withoutTimeRange } from "../state/search-terms.js";
import { workOf } from "../state/work.js";
import { formatCount, formatMs, formatSpan, formatTime } from "../text/format.js";
import { Icon } from "../ui/icon.js";
import { DELIVERY_OUTCOMES, type TimeBucket, groupByTime, measureAnswerTimes } from "./time-buckets.js";

/** The strip ends now; one of a chosen time ends with its last delivery. */
const until = signal(Date.now());
const buckets = computed(() => groupByTime(captures.value, workOf, hasTimeRange(query.value) ? 0 : until.value));
const answerTimes = computed(() => measureAnswerTimes(captures.value));

/** Above the list: what became of the deliveries over time, and how long the answers took. */
export function TimeChart() {
  useEffect(() => {
    const timer = setInterval(() => (until.value = Date.now()), 15 * SECOND);
    return () => clearInterval(timer);
  }, []);
  // One delivery needs no chart.
  if (totalCaptures.value < 2 || captures.value.length === 0) return null;
  return (
    <section class="list-chart" aria-label="Deliveries over time">
      <div class="list-chart-head">
        <Legend buckets={buckets.value} />
        <span class="spring" />
        {hasTimeRange(query.value) && (
          <button type="button" class="link" onClick={() => setQuery(withoutTimeRange(query.value))}>
            <Icon name="cross" /> All times
          </button>
        )}
        <AnswerTimesInWords />
      </div>
      <Strip buckets={buckets.value} />
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

/** Deliveries over time, with the number of the highest bar. Dragging over it lists those of a part of the time. */
function Strip({ buckets }: { buckets: readonly TimeBucket[] }) {
  if (buckets.length === 0) return null;
  const most = Math.max(...buckets.map(({ total }) => total));
  const ticks = [0, 0.25, 0.5, 0.75].map((share) => buckets[Math.floor(share * buckets.length)]?.from ?? 0);
  return (
    <>
      <span class="time-most" aria-hidden="true">
        {formatCount(most)}
      </span>
      <Bars buckets={buckets} most={most} />
      <div class="time-axis">
        {ticks.map((at) => (
          <span key={at}>{formatTime(at)}</span>
        ))}
        <span>{formatTime(buckets.at(-1)?.to ?? 0)}</span>
      </div>
    </>
  );
}

/** The outcomes that occur, and how often. */
function Legend({ buckets }: { buckets: readonly TimeBucket[] }) {
  const counted = DELIVERY_OUTCOMES.map((outcome) => ({
    ...outcome,
    count: buckets.reduce((sum, { counts }) => sum + counts[outcome.name], 0),
  }));
  return (
    <>
      {counted
        .filter(({ count }) => count > 0)
        .map(({ name, tone, meaning, count }) => (
          <span class="legend" key={name} title={meaning}>
            <span class={`band-dot ${tone}`} /> {name} <b>{formatCount(count)}</b>
          </span>
        ))}
    </>
  );
}

/** The bars; the pointer chooses some beside each other. Who has none writes `after:` and `before:` into the search. */
function Bars({ buckets, most }: { buckets: readonly TimeBucket[]; most: number }) {
  /** Where the first and the last bar that was touched begin: new deliveries may add bars. */
  const [touched, setTouched] = useState<readonly [first: number, last: number] | null>(null);
  const isChosen = ({ from }: TimeBucket): boolean =>
    touched !== null && from >= Math.min(...touched) && from <= Math.max(...touched);
  const touch = ({ clientX, currentTarget }: TargetedPointerEvent<HTMLElement>, first?: number) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const index = Math.floor(((clientX - left) / width) * buckets.length);
    const { from } = buckets[Math.min(buckets.length - 1, Math.max(0, index))] ?? { from: 0 };
    setTouched([first ?? from, from]);
  };
  const listChosen = () => {
    const chosen = buckets.filter(isChosen);
    setTouched(null);
    const [first, last] = [chosen[0], chosen.at(-1)];
    if (first && last) setQuery(withTimeRange(query.value, { from: first.from, to: last.to }));
  };
  return (
    <div
      class="time-bars"
      role="img"
      aria-label="Deliveries by time and outcome"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        touch(event);
      }}
      onPointerMove={(event) => touched && touch(event, touched[0])}
      onPointerUp={listChosen}
      onPointerCancel={() => setTouched(null)}
    >
      {buckets.map((bucket) => (
        <div
          key={bucket.from}
          class={isChosen(bucket) ? "time-bar touched" : "time-bar"}
          title={describeBucket(bucket)}
        >
          {DELIVERY_OUTCOMES.filter(({ name }) => bucket.counts[name] > 0).map(({ name, tone }) => (
            <span key={name} class={`time-part ${tone}`} style={{ height: `${(100 * bucket.counts[name]) / most}%` }} />
          ))}
        </div>
      ))}
    </div>
  );
}

/** Such as `14:02:10 to 14:02:20: 3 accepted, 1 failed`. */
function describeBucket({ from, to, counts, total }: TimeBucket): string {
  const parts = DELIVERY_OUTCOMES.flatMap(({ name }) =>
    counts[name] === 0 ? [] : [`${formatCount(counts[name])} ${name}`],
  );
  return `${formatTime(from)} to ${formatTime(to)}: ${total === 0 ? "no deliveries" : parts.join(", ")}`;
}
