import { cpuMs } from "./cpu-ms.js";

/**
 * How many times longer work takes now than on a machine that has nothing else to do: the time in which this process
 * gets 50 ms of a processor. What the system does for it counts: asking for the time of a processor is mostly that.
 */
export function measureSlowness(): number {
  const [start, before] = [performance.now(), cpuMs()];
  while (cpuMs() - before < 50);
  return Math.max(1, (performance.now() - start) / 50);
}
