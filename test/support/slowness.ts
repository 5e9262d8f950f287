/**
 * How many times longer work takes now than on a machine that has nothing else to do: the time in which this process
 * gets 50 ms of a processor.
 */
export function measureSlowness(): number {
  const [start, before] = [performance.now(), process.cpuUsage()];
  while (process.cpuUsage(before).user < 50_000);
  return Math.max(1, (performance.now() - start) / 50);
}
