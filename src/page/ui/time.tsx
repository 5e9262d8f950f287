import { useEffect, useState } from "preact/hooks";
import { SECOND } from "../../base/duration.js";
import { formatExactTime, formatTime } from "../text/format.js";

interface TimeOptions {
  /** ISO text, or milliseconds since 1970. */
  at: string | number;
  /** Said before it, such as `next at `. */
  before?: string;
  class?: string;
}

/** A time, with the exact one for the pointer. */
export function Time({ at, before = "", class: look }: TimeOptions) {
  return (
    <span class={look} title={formatExactTime(at)}>
      {before}
      {formatTime(at)}
    </span>
  );
}

/** Time since the value came, in milliseconds; it grows each second. */
export function useElapsed(value: unknown): number {
  const [elapsedMs, setElapsed] = useState(0);
  useEffect(() => {
    const begun = performance.now();
    setElapsed(0);
    const timer = setInterval(() => setElapsed(performance.now() - begun), SECOND);
    return () => clearInterval(timer);
  }, [value]);
  return elapsedMs;
}
