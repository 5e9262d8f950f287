import { formatCount, formatTime } from "../ui/format.js";
import { DELIVERY_OUTCOMES } from "./delivery-outcome.js";
import { TimeBars } from "./time-bars.js";
import type { TimeBucket } from "./time-buckets.js";

interface TimeChartOptions {
  buckets: readonly TimeBucket[];
}

/** Deliveries over time. Dragging over it lists those of a part of the time. */
export function TimeChart({ buckets }: TimeChartOptions) {
  const first = buckets[0];
  const last = buckets.at(-1);
  if (first === undefined || last === undefined) return null;
  return (
    <>
      <TimeBars buckets={buckets} />
      <div class="time-axis">
        <span>{formatTime(first.from)}</span>
        <span>{formatTime(last.to)}</span>
      </div>
    </>
  );
}

/** The outcomes that occur, and how often. */
export function TimeLegend({ buckets }: TimeChartOptions) {
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
