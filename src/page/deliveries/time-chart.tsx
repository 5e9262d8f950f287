import { formatCount, formatTime } from "../ui/format.js";
import { DELIVERY_OUTCOMES } from "./delivery-outcome.js";
import { TimeBars } from "./time-bars.js";
import type { TimeBucket } from "./time-buckets.js";

interface TimeChartOptions {
  buckets: readonly TimeBucket[];
}

/** Deliveries over time, with the number of the highest bar. Dragging over it lists those of a part of the time. */
export function TimeChart({ buckets }: TimeChartOptions) {
  if (buckets.length === 0) return null;
  const ticks = [0, 0.25, 0.5, 0.75].map((share) => buckets[Math.floor(share * buckets.length)]?.from ?? 0);
  return (
    <>
      <span class="time-most" aria-hidden="true">
        {formatCount(Math.max(...buckets.map(({ total }) => total)))}
      </span>
      <TimeBars buckets={buckets} />
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
