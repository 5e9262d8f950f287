import { computed } from "@preact/signals";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { hasTimeRange, withoutTimeRange } from "../state/time-range.js";
import { formatCount, formatTime } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { DELIVERY_OUTCOMES } from "./delivery-outcome.js";
import { TimeBars } from "./time-bars.js";
import { groupByTime, type TimeBucket } from "./time-buckets.js";

const buckets = computed(() => groupByTime(captures.value));

/** The listed deliveries over time. Dragging over it lists those of a part of the time. */
export function TimeChart() {
  const first = buckets.value[0];
  const last = buckets.value.at(-1);
  if (first === undefined || last === undefined || totalCaptures.value < 2) return null;
  return (
    <section class="time-chart" aria-label="Deliveries over time">
      <div class="time-chart-head">
        <Legend buckets={buckets.value} />
        <span class="spring" />
        {hasTimeRange(query.value) && (
          <button type="button" class="link" onClick={() => setQuery(withoutTimeRange(query.value))}>
            <Icon name="cross" /> All times
          </button>
        )}
      </div>
      <TimeBars buckets={buckets.value} />
      <div class="time-axis">
        <span>{formatTime(first.from)}</span>
        <span>{formatTime(last.to)}</span>
      </div>
    </section>
  );
}

/** The outcomes that occur, and how often. */
function Legend({ buckets: bars }: { buckets: readonly TimeBucket[] }) {
  const counted = DELIVERY_OUTCOMES.map((outcome) => ({
    ...outcome,
    count: bars.reduce((sum, { counts }) => sum + counts[outcome.name], 0),
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
