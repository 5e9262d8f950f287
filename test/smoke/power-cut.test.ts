import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cutPower } from "../torture/scenarios/power-loss.js";
import { buildShim, findShimObstacle } from "../torture/shim/shim.js";

const STATES = 40;

test.skipIf(findShimObstacle() !== undefined)(
  "a power cut at any moment around checkpoints loses nothing that was answered and repeats nothing",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "pigeonhole-shim-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const cut = { shim: buildShim(folder), play: "checkpoints", seed: 1, states: STATES } as const;
    const result = await cutPower({ ...cut, statesPerRecording: STATES });
    expect(result.violations).toEqual([]);
    // Without these the cuts would have had nothing to lose.
    expect([result.states, result.withAnswers > STATES / 4, result.checkpoints > 5]).toEqual([STATES, true, true]);
  },
);
