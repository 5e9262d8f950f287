import type { TargetedPointerEvent } from "preact";
import { formatCount, formatTime } from "../ui/format.js";
import { memo } from "../ui/memo.js";
import { DELIVERY_OUTCOMES } from "./delivery-outcome.js";
import type { TimeBucket } from "./time-buckets.js";
import { useBrush } from "./use-brush.js";

interface TimeBarsOptions {
  buckets: readonly TimeBucket[];
}

function Bars({ buckets }: TimeBarsOptions) {
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

/** The bars; dragging over some, or the keys, list their deliveries. Rendered again only when the list has changed. */
export const TimeBars = memo(Bars);

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
