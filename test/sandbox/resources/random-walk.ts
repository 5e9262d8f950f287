import * as fc from "fast-check";

/** The steps of a walk. By itself, fast-check makes lists of about ten. */
export function stepsOf<Step>(step: fc.Arbitrary<Step>, maxLength: number): fc.Arbitrary<Step[]> {
  return fc.array(step, { maxLength, size: "max" });
}

/**
 * Takes so many random walks, each in a workspace of its own. A failure prints the seed and the path of the shortest
 * walk found; `PIGEONHOLE_WALK='{"seed":1,"path":"0:1"}'` takes that one again.
 */
export async function walkAtRandom<Walk>(
  walk: fc.Arbitrary<Walk>,
  walks: number,
  take: (walk: Walk) => Promise<void>,
): Promise<void> {
  const again = JSON.parse(process.env["PIGEONHOLE_WALK"] ?? "{}") as { seed?: number; path?: string };
  await fc.assert(fc.asyncProperty(walk, take), { numRuns: walks, ...again });
}
