import { expect, test } from "vitest";
import type { JobResult } from "./jobs.js";
import { Summary } from "./summary.js";

const job = (result: Partial<JobResult>): JobResult => {
  return { scenario: "kills", counts: {}, violations: [], ms: 1_000, cpuMs: 500, ...result };
};

function summarize(...results: JobResult[]): string[] {
  const summary = new Summary();
  for (const result of results) summary.add(result);
  return summary.lines(61.4);
}

test("the last line sums up the figures to quote, without the mistakes that controls must find", () => {
  const lines = summarize(
    job({ counts: { kills: 20, events: 700, lost: 0, twice: 0, restMs: 90 } }),
    job({ counts: { kills: 30, events: 900, lost: 1, twice: 2, restMs: 40 }, violations: ["evt_1: done false"] }),
    job({ scenario: "power loss, pruning", counts: { states: 250, events: 40, lost: 3, twice: 0 } }),
    job({ scenario: "control, normal", counts: { states: 8, lost: 5 } }),
  );
  expect(lines.at(-1)).toBe("TORTURE: 250 states, 50 kills, 1640 events, 4 lost, 2 twice, 1 violations, 61 s");
  expect(lines[0]).toBe("BROKEN kills: kills 50, events 1600, lost 1, twice 2, restMs 90; 1 violations, 2 s");
});

test("the summary of the simulation has its seeds, its rate by CPU time, and each seed that failed", () => {
  const simulation = { scenario: "simulation", counts: { seeds: 100 }, ms: 60_000, cpuMs: 4_000 };
  const kept = summarize(job({ ...simulation, failedSeeds: [] }), job({ ...simulation, failedSeeds: [] }));
  expect(kept).toContain("SIMULATION: 200 seeds run; 25.0 a second of CPU time; no seed failed");
  const broken = summarize(
    job({ ...simulation, failedSeeds: [102, 141], violations: ["Seed 102 breaks", "Seed 141 breaks"] }),
    job({ ...simulation, failedSeeds: [17], violations: ["Seed 17 breaks"] }),
    job({ ...simulation, counts: {}, cpuMs: 0, violations: ["The process died"] }),
  );
  expect(broken).toContain(
    "SIMULATION: 200 seeds run; 25.0 a second of CPU time; 3 seeds failed: 17, 102, 141; 1 other violations",
  );
});
