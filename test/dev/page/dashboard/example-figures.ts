import type { Receiver } from "pigeonhole";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import { NO_FIGURES } from "#pigeonhole/store/figure-rows.js";
import { type TimeCounts, bucketOf } from "#pigeonhole/store/time-buckets.js";
import type { Figures, RunFigures, RunningNow } from "#pigeonhole/store/figures.js";
import { processStatus } from "../../../store/conformance/figures.js";

interface ExampleOptions {
  /** How far back they begin, in milliseconds. */
  spanMs: number;
  /** Time between two of them, in milliseconds. */
  everyMs: number;
}

/** Writes figures as a process would have done, up to now: deliveries come and go, and one handler fails at times. */
export async function writeExampleFigures(receiver: Receiver, { spanMs, everyMs }: ExampleOptions): Promise<void> {
  const { store } = partsOf(receiver).options;
  const end = Date.now();
  for (let now = end - spanMs; now <= end; now += everyMs) {
    await store.writeFigures({
      process: "example",
      now,
      figures: figuresAt(Math.round((now - end) / everyMs)),
      status: undefined,
    });
  }
}

function figuresAt(step: number): Figures {
  const load = Math.round(40 + 30 * Math.sin(step / 9) + 10 * Math.sin(step / 2));
  const failing = Math.sin(step / 25) > 0.7;
  const counts = (total: number): TimeCounts => [
    bucketOf(2),
    Math.round(total / 2),
    bucketOf(5),
    Math.round(total / 3),
    bucketOf(10),
    Math.round(total / 6),
  ];
  const runs = (failed: number): RunFigures => ({ done: counts(load - failed), failed: [bucketOf(5), failed] });
  const depth = failing ? load * 8 : Math.round(load / 10);
  return {
    answers: {
      accepted: load,
      duplicate: Math.round(load / 12),
      ...(failing ? { unverified: 6, overloaded: 9 } : {}),
    },
    answerTimes: counts(load),
    runs: new Map([
      ["audit", runs(0)],
      ["crm", runs(failing ? Math.round(load / 3) : 0)],
    ]),
    gauges: {
      backlog: { depth, oldestAgeMs: depth * 90 },
      outbox: { depth: Math.round(depth / 4), oldestAgeMs: depth * 30 },
      disk: { usedBytes: 207_000_000 + step * 20_000, freeBytes: 40_000_000_000 - step * 20_000 },
    },
  };
}

/** Reports what another process runs now. */
export async function reportRun(receiver: Receiver, run: RunningNow): Promise<void> {
  const now = Date.now();
  const own = { process: "example", host: "example", pid: 1, role: "both", startedAt: now };
  const status = processStatus({ ...own, runningCount: 1, running: [run] });
  await partsOf(receiver).options.store.writeFigures({ process: "example", now, figures: NO_FIGURES, status });
}
