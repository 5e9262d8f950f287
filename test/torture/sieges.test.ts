import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { killAll } from "./process/start.js";
import { SIEGES, type SiegeName, besiege } from "./scenarios/sieges.js";
import { buildShim, findShimObstacle } from "./shim/shim.js";

const SECONDS = 5;
/** With the time to come to rest on a machine that is busy with other work. */
const LIMIT_MS = 90_000;

describe.skipIf(findShimObstacle() !== undefined)("a receiver under faults and load", () => {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-shim-"));
  let shim = "";
  beforeAll(() => void (shim = buildShim(folder)));
  afterAll(() => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  });

  test.for(Object.keys(SIEGES) as SiegeName[])(
    "a receiver under faults and load loses nothing that was answered and repeats nothing: %s",
    { timeout: LIMIT_MS },
    async (name) => {
      const seed = Date.now();
      const result = await besiege(name, { shim, seed, seconds: SECONDS });
      console.info(`sieges.test: ${name} ${JSON.stringify({ seed, ...result })}`);
      expect(result.violations, `seed ${seed}`).toEqual([]);
      // Without these nothing would have been at stake.
      expect(result.events).toBeGreaterThan(50);
      expect(result.apiCalls).toBeGreaterThan(0);
      if (name === "kills") expect(result.kills).toBeGreaterThan(1);
    },
  );
});
