import { readFileSync } from "node:fs";

/** CPU time since the process began, in microseconds. */
export interface CpuTime {
  /** All threads. */
  process: number;
  /** The main thread; undefined where the kernel does not tell. */
  mainThread?: number;
}

/** Reads the CPU time of this process; it asks Linux for that of the main thread. */
export function readCpuTime(): CpuTime {
  const { user, system } = process.cpuUsage();
  const mainThread = readMainThread();
  return mainThread === undefined
    ? { process: user + system }
    : { process: user + system, mainThread: mainThread.ranMicros };
}

/** How long the main thread ran, and how long it could have run but had to wait for its core; from Linux. */
export function readMainThread(): { ranMicros: number; waitedMicros: number } | undefined {
  try {
    const [ran, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
    return { ranMicros: Number(ran) / 1000, waitedMicros: Number(waited) / 1000 };
  } catch {
    return undefined;
  }
}
