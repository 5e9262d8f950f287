import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import type { LeasedWork } from "#pigeonhole/store/work.js";
import { serveCalls } from "./child-calls.js";
import { ownCpuMicros } from "./cpu-time.js";

/** Times per settled piece of work, in microseconds. */
export interface SettleTimes {
  wall: number;
  cpu: number;
  lease: number;
}

const PAGE = 1_000;
/** Settlements under way at once, as many as a busy dispatcher has. */
const AT_ONCE = 1_000;
const LEASE_MS = 600_000;

const calls = {
  /**
   * Leases `count` pieces of pending work, then settles them in the same order; the first are long out of the cache by
   * then.
   */
  async settle(plan: { file: string; handler: string; count: number; thread: boolean }): Promise<SettleTimes> {
    const store = createSqliteStore({ file: plan.file, thread: plan.thread });
    await store.open({ logger: silentLogger });
    await store.recover(Date.now());
    const work: Pick<LeasedWork, "seq" | "handler" | "token">[] = [];
    const leaseStart = performance.now();
    while (work.length < plan.count) {
      const now = Date.now();
      const leaseUntil = now + LEASE_MS;
      const page = await store.lease({
        handler: plan.handler,
        now,
        leaseUntil,
        limit: PAGE,
        maxBytes: 2 ** 30,
        crashedLimit: 1,
        allowCrashLooping: false,
      });
      if (page.work.length === 0) throw new Error(`only ${work.length} of ${plan.count} pieces of work are pending`);
      for (const { seq, handler, token } of page.work) work.push({ seq, handler, token });
    }
    const lease = ((performance.now() - leaseStart) * 1000) / work.length;

    const cpuStart = ownCpuMicros();
    const start = performance.now();
    for (let first = 0; first < work.length; first += AT_ONCE) {
      const at = Date.now();
      const settlements = work.slice(first, first + AT_ONCE);
      const results = await Promise.all(
        settlements.map((settlement) => store.settle({ ...settlement, at, dropSteps: false, to: "done" })),
      );
      if (results.includes("lost")) throw new Error("a lease was lost");
    }
    const wall = ((performance.now() - start) * 1000) / work.length;
    const cpu = (ownCpuMicros() - cpuStart) / work.length;
    await store.close();
    return { wall, cpu, lease };
  },
};

export type SettleCalls = typeof calls;

serveCalls(calls);
