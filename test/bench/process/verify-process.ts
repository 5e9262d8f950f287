import { createVerifyCandidates } from "../contestants/verify-candidates.js";
import { serveCalls } from "./child-calls.js";
import { ownCpuMicros } from "./cpu-time.js";

/** Time of one candidate at one body size in one round. */
export interface VerifyTime {
  bytes: number;
  name: string;
  micros: number;
}

const SLICE_MS = 20;

const candidates = createVerifyCandidates();

/**
 * CPU microseconds of one verification, as OpenSSL measures itself, so that other programs do not count. Runs for about
 * `ms`; the batch grows so that reading the clock costs nothing.
 */
async function timeCandidate(run: (count: number) => void | Promise<void>, ms: number): Promise<number> {
  let batch = 1;
  let count = 0;
  const cpuStart = ownCpuMicros();
  const start = performance.now();
  for (;;) {
    const before = performance.now();
    await run(batch);
    count += batch;
    const now = performance.now();
    if (now - start >= ms) return (ownCpuMicros() - cpuStart) / count;
    if (now - before < SLICE_MS) batch *= 2;
  }
}

const calls = {
  /** Times every candidate once, in the given order or in reverse. */
  async measureRound(round: { sliceMs: number; reversed: boolean }): Promise<VerifyTime[]> {
    const times: VerifyTime[] = [];
    for (const { bytes, name, run } of round.reversed ? candidates.toReversed() : candidates) {
      times.push({ bytes, name, micros: await timeCandidate(run, round.sliceMs) });
    }
    return times;
  },
};

export type VerifyCalls = typeof calls;

serveCalls(calls);
