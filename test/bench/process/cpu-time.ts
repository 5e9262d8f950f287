import { readFileSync, readdirSync } from "node:fs";

/** Linux counts in hundredths of a second. */
const MICROS_PER_TICK = 10_000;

/** CPU time of all threads of this process since it began, in microseconds. */
export function ownCpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/**
 * How long the main thread of this process ran, and how long it could have run but had to wait for its core; from
 * Linux.
 */
export function readMainThread(): { ranMicros: number; waitedMicros: number } | undefined {
  return readThread(process.pid, process.pid);
}

/**
 * CPU time of each thread of a process since it began, in microseconds by thread id; empty where the system does not
 * tell.
 */
export function readThreads(pid: number): Map<number, number> {
  const threads = new Map<number, number>();
  for (const id of listThreads(pid)) {
    const thread = readThread(pid, id);
    if (thread) threads.set(id, thread.ranMicros);
  }
  return threads;
}

/**
 * CPU time of a process and its children since they began, in microseconds; children that ended are among it where the
 * process has waited for them.
 */
export function readFamilyCpuMicros(pid: number): number {
  const own = readTicks(pid);
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readTicks(Number(name)))
    .filter((ticks) => ticks?.parent === pid);
  const ticks = [own, ...children].reduce((sum, each) => sum + (each?.used ?? 0), own?.ofEnded ?? 0);
  return ticks * MICROS_PER_TICK;
}

function readTicks(pid: number): { parent: number; used: number; ofEnded: number } | undefined {
  try {
    // The name is in parentheses and may hold anything.
    const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/\) (?!.*\) )/);
    const [, parent, , , , , , , , , , user, system, childUser, childSystem] = rest.split(" ").map(Number);
    return {
      parent: parent ?? 0,
      used: (user ?? 0) + (system ?? 0),
      ofEnded: (childUser ?? 0) + (childSystem ?? 0),
    };
  } catch {
    return undefined;
  }
}

/** CPU time per request between two readings, in microseconds. */
export interface CpuPerRequest {
  /** All threads. */
  whole: number;
  main: number;
  /** The busiest thread after the main thread: the writer, where there is one. */
  second: number;
}

export function compareThreads(
  pid: number,
  { before, after, requests }: { before: Map<number, number>; after: Map<number, number>; requests: number },
): CpuPerRequest {
  const used = [...after].map(([id, micros]) => ({ id, micros: (micros - (before.get(id) ?? 0)) / requests }));
  const others = used.filter(({ id }) => id !== pid).map(({ micros }) => micros);
  return {
    whole: used.length === 0 ? Number.NaN : used.reduce((sum, { micros }) => sum + micros, 0),
    main: used.find(({ id }) => id === pid)?.micros ?? Number.NaN,
    second: Math.max(0, ...others),
  };
}

function listThreads(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

function readThread(pid: number, id: number): { ranMicros: number; waitedMicros: number } | undefined {
  try {
    const [ran, waited] = readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ");
    return { ranMicros: Number(ran) / 1000, waitedMicros: Number(waited) / 1000 };
  } catch {
    return undefined;
  }
}
