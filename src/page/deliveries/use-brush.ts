import { useState } from "preact/hooks";
import { query, setQuery } from "../state/captures.js";
import { hasTimeRange, withoutTimeRange, withTimeRange } from "../state/search-terms.js";
import type { TimeBucket } from "./time-buckets.js";

/** The choice of some bars beside each other, by pointer or keys. */
export function useBrush(buckets: readonly TimeBucket[]) {
  /** The first and the last bar that was touched, by the times at which they begin: new deliveries may add bars. */
  const [touched, setTouched] = useState<{ anchor: number; current: number } | null>(null);
  const isChosen = ({ from }: TimeBucket): boolean =>
    touched !== null &&
    from >= Math.min(touched.anchor, touched.current) &&
    from <= Math.max(touched.anchor, touched.current);
  /** Index of the bar that was touched last; -1 if nothing is chosen. */
  const active = touched === null ? -1 : buckets.findIndex(({ from }) => from === touched.current);
  const begin = ({ from }: TimeBucket) => setTouched({ anchor: from, current: from });
  /** Chooses all bars up to this one. */
  const extend = ({ from }: TimeBucket) => {
    if (touched !== null && touched.current !== from) setTouched({ ...touched, current: from });
  };
  const cancel = () => setTouched(null);
  /** Lists the deliveries of the chosen bars. */
  const apply = () => {
    const chosen = buckets.filter(isChosen);
    const [first, last] = [chosen[0], chosen.at(-1)];
    cancel();
    if (first === undefined || last === undefined) return;
    setQuery(withTimeRange(query.value, { from: first.from, to: last.to }));
  };
  /** True if the key was for the brush. */
  const press = ({ key, shiftKey }: KeyboardEvent): boolean => {
    if (key === "Enter" && touched !== null) apply();
    else if (key === "Escape" && touched !== null) cancel();
    else if (key === "Escape" && hasTimeRange(query.value)) setQuery(withoutTimeRange(query.value));
    else {
      const next = buckets[nextIndex(key, active, buckets.length) ?? -1];
      if (next === undefined) return false;
      if (shiftKey) extend(next);
      else begin(next);
    }
    return true;
  };
  return { isChosen, active, begin, extend, apply, cancel, press };
}

/** The bar that a key moves to; undefined for other keys. */
function nextIndex(key: string, active: number, count: number): number | undefined {
  const last = count - 1;
  switch (key) {
    case "ArrowLeft":
      return active === -1 ? last : Math.max(0, active - 1);
    case "ArrowRight":
      return Math.min(last, active + 1);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}
