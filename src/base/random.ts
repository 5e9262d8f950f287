import { createHash } from "node:crypto";

/** A source of numbers in [0, 1), such as `Math.random`. Simulations use a seeded one. */
export type Random = () => number;

/** A source of random numbers. The same seed gives the same numbers in every run. */
export function seededRandom(seed: string): Random {
  const digest = createHash("sha256").update(seed).digest();
  let [a, b, c, d] = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), digest.readInt32LE(12)];
  // sfc32, a small generator that passes the usual tests of randomness. Not for secrets.
  return () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
}
