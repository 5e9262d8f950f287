import type { TargetedPointerEvent } from "preact";
import { formatCount, formatTime } from "../text/format.js";
import { useBrush } from "./use-brush.js";
import { DELIVERY_OUTCOMES, type TimeBucket } from "./time-buckets.js";

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
      <Bars buckets={buckets} />
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

/** The bars; dragging over some, or the keys, list their deliveries. */
function Bars({ buckets }: TimeChartOptions) {
  const brush = useBrush(buckets);
  const most = Math.max(...buckets.map(({ total }) => total));
  const bucketAt = ({ clientX, currentTarget }: TargetedPointerEvent<HTMLElement>): TimeBucket | undefined => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const index = Math.floor(((clientX - left) / width) * buckets.length);
    return buckets[Math.min(buckets.length - 1, Math.max(0, index))];
  };
  const isDragging = ({ currentTarget, pointerId }: TargetedPointerEvent<HTMLElement>): boolean =>
    currentTarget.hasPointerCapture(pointerId);
  return (
    <div
      class="time-bars"
      role="listbox"
      tabIndex={0}
      aria-label="Times. Arrows move, with Shift they choose several, Enter lists their deliveries"
      aria-multiselectable
      aria-orientation="horizontal"
      {...(brush.active === -1 ? {} : { "aria-activedescendant": barId(brush.active) })}
      onPointerDown={(event) => {
        const bucket = bucketAt(event);
        if (event.button !== 0 || bucket === undefined) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        brush.begin(bucket);
      }}
      onPointerMove={(event) => {
        const bucket = isDragging(event) ? bucketAt(event) : undefined;
        if (bucket !== undefined) brush.extend(bucket);
      }}
      onPointerUp={(event) => {
        if (isDragging(event)) brush.apply();
      }}
      onPointerCancel={brush.cancel}
      onBlur={brush.cancel}
      onKeyDown={(event) => {
        if (brush.press(event)) event.preventDefault();
      }}
    >
      {buckets.map((bucket, index) => (
        <Bar
          key={bucket.from}
          bucket={bucket}
          index={index}
          most={most}
          isChosen={brush.isChosen(bucket)}
          isActive={index === brush.active}
        />
      ))}
    </div>
  );
}

interface BarOptions {
  bucket: TimeBucket;
  index: number;
  /** Deliveries of the highest bar. */
  most: number;
  isChosen: boolean;
  isActive: boolean;
}

function Bar({ bucket, index, most, isChosen, isActive }: BarOptions) {
  const text = describeBucket(bucket);
  return (
    <div
      class={isActive ? "time-bar active" : "time-bar"}
      id={barId(index)}
      role="option"
      aria-selected={isChosen}
      aria-label={text}
      title={text}
    >
      {DELIVERY_OUTCOMES.map(
        ({ name, tone }) =>
          bucket.counts[name] > 0 && (
            <span key={name} class={`time-part ${tone}`} style={{ height: `${(100 * bucket.counts[name]) / most}%` }} />
          ),
      )}
    </div>
  );
}

function barId(index: number): string {
  return `time-bar-${index}`;
}

/** Such as `14:02:10 to 14:02:20: 3 accepted, 1 failed`. */
function describeBucket({ from, to, counts, total }: TimeBucket): string {
  const parts = DELIVERY_OUTCOMES.flatMap(({ name }) =>
    counts[name] === 0 ? [] : [`${formatCount(counts[name])} ${name}`],
  );
  return `${formatTime(from)} to ${formatTime(to)}: ${total === 0 ? "no deliveries" : parts.join(", ")}`;
}
