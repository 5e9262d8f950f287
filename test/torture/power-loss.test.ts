import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeCopies } from "./packages.js";
import { MISTAKES, type Mistake, PLAYS, type PlayName, cutPower } from "./scenarios/power-loss.js";
import { buildShim, findShimObstacle } from "./shim/shim.js";

/** STATES: states of each play, of recordings that have so many each at most. */
const STATES = Number(process.env["STATES"] ?? 60);
const STATES_PER_RECORDING = 125;
/** Of a run that hangs: on a busy machine a state takes seconds. */
const LIMIT_MS = 600_000 + STATES * 5_000;
/** A mistake must show within so many states. */
const WITHIN_STATES = 400;

describe.skipIf(findShimObstacle() !== undefined)("a power cut at any moment", () => {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-shim-"));
  let shim = "";
  beforeAll(() => void (shim = buildShim(folder)));
  afterAll(() => {
    removeCopies();
    rmSync(folder, { recursive: true, force: true });
  });

  test.for(Object.keys(PLAYS) as PlayName[])(
    "a power cut at any moment loses nothing that was answered and repeats nothing: %s",
    { timeout: LIMIT_MS },
    async (play) => {
      const seed = Number(process.env["FIRST_SEED"] ?? Date.now());
      const result = await cutPower({ shim, play, seed, states: STATES, statesPerRecording: STATES_PER_RECORDING });
      console.info(`power-loss.test: ${play} ${JSON.stringify({ seed, ...result })}`);
      expect(result.violations, `FIRST_SEED=${seed}`).toEqual([]);
      expect(result.states).toBe(STATES);
      // Without these the cuts would have had nothing to lose.
      expect(result.withAnswers).toBeGreaterThan(STATES / 4);
      // A hole in the WAL would not outlive a checkpoint.
      if (play !== "failed_sync") expect(result.checkpoints).toBeGreaterThan(5);
      expect(result.pruned > 0).toBe(play === "pruning");
    },
  );

  test.for(Object.keys(MISTAKES) as Mistake[])(
    "a power cut at any moment reveals the mistake of the control %s",
    { timeout: LIMIT_MS },
    async (mistake) => {
      const { play, shows } = MISTAKES[mistake];
      const states = { states: WITHIN_STATES, statesPerRecording: 100 };
      const result = await cutPower({ shim, play, seed: 1, ...states, mistake });
      expect(result.violations.join("\n")).toMatch(shows);
    },
  );
});
