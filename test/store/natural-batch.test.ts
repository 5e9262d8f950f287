import { PigeonholeError } from "#pigeonhole/base/error.js";
import { NaturalBatch } from "#pigeonhole/store/natural-batch.js";
import { expect, test } from "vitest";

test.each([
  ["store_failed", [3, 1, 1, 1]],
  ["server_unusable", [3]],
  ["store_unreachable", [3]],
] as const)("a batch that fails with %s is run with %j items", async (code, expected) => {
  const sizes: number[] = [];
  const limits = { maxItems: 10, maxBytes: 10, bytesOf: () => 0 };
  const batch = new NaturalBatch<number, void>(limits, (items) => {
    sizes.push(items.length);
    return Promise.reject(new PigeonholeError(code, "failed"));
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => batch.add(item)));
  expect(results).toMatchObject(Array.from({ length: 3 }, () => ({ status: "rejected", reason: { code } })));
  expect(sizes).toEqual(expected);
});
