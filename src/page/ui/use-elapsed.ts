import { useEffect, useState } from "preact/hooks";
import { SECOND } from "../../base/duration.js";

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
