import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Bytes allocated by one function itself, its callees left out. */
export interface AllocatingFunction {
  name: string;
  /** File and line; empty for what belongs to Node or V8 itself. */
  place: string;
  bytes: number;
}

interface ProfileNode {
  callFrame: { functionName: string; url: string; lineNumber: number };
  selfSize: number;
  children: ProfileNode[];
}

const LIMIT_MS = 30_000;
const POLL_MS = 20;
/** As much of a path as tells files apart. */
const PATH_PARTS = 3;

/**
 * What a process needs to be sampled, and how to do it. Bytes are estimates from samples; all that was collected
 * meanwhile counts.
 */
export function createHeapSampling(file: string) {
  async function signal(pid: number, awaited: string): Promise<void> {
    process.kill(pid, "SIGUSR2");
    const deadline = performance.now() + LIMIT_MS;
    while (!existsSync(awaited)) {
      if (performance.now() > deadline) throw new Error("the server did not answer to SIGUSR2");
      await sleep(POLL_MS);
    }
  }
  return {
    nodeFlags: ["--import", new URL("heap-preload.mjs", import.meta.url).href],
    env: { BENCH_HEAP_FILE: file },
    start: (pid: number) => signal(pid, `${file}.started`),
    /** The functions that allocated most, in descending order. */
    async stop(pid: number): Promise<AllocatingFunction[]> {
      await signal(pid, file);
      const { head } = JSON.parse(readFileSync(file, "utf8")) as { head: ProfileNode };
      return sumByFunction(head);
    },
  };
}

function sumByFunction(head: ProfileNode): AllocatingFunction[] {
  const functions = new Map<string, AllocatingFunction>();
  const visit = ({ callFrame, children, selfSize }: ProfileNode): void => {
    const { functionName, lineNumber, url } = callFrame;
    const place = url === "" ? "" : `${url.split("/").slice(-PATH_PARTS).join("/")}:${lineNumber + 1}`;
    const name = functionName === "" ? "(anonymous)" : functionName;
    const key = `${name} ${place}`;
    const seen = functions.get(key) ?? { name, place, bytes: 0 };
    seen.bytes += selfSize;
    functions.set(key, seen);
    children.forEach(visit);
  };
  visit(head);
  return [...functions.values()].toSorted((a, b) => b.bytes - a.bytes);
}
