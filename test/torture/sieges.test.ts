import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SIEGES, type SiegeName, besiege } from "./scenarios/sieges.js";
import { buildShim, findShimObstacle } from "./shim/shim.js";

/** SIEGE_SECONDS: for how long at least. */
const SECONDS = Number(process.env["SIEGE_SECONDS"] ?? 5);
/** With the time to come to rest on a machine that is busy with other work. */
const LIMIT_MS = 240_000 + SECONDS * 2_000;

describe.skipIf(findShimObstacle() !== undefined)("a receiver under faults and load", () => {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-shim-"));
  let shim = "";
  beforeAll(() => void (shim = buildShim(folder)));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.for(Object.keys(SIEGES) as SiegeName[])(
    "a receiver under faults and load loses nothing that was answered and repeats nothing: %s",
    { timeout: LIMIT_MS },
    async (name) => {
      const seed = Number(process.env["FIRST_SEED"] ?? Date.now());
      const result = await besiege(name, { shim, seed, seconds: SECONDS });
      console.info(`sieges.test: ${name} ${JSON.stringify({ seed, ...result })}`);
      expect(result.violations, `FIRST_SEED=${seed}`).toEqual([]);
    },
  );
});
