import { expect, test } from "vitest";
import { toKeptStep } from "#pigeonhole/store/kept-step-row.js";

test("a step that an older version kept has no time", () => {
  expect(toKeptStep({ name: "a", at: null })).toEqual({ name: "a", at: undefined });
  expect(toKeptStep({ name: "b", at: 7 })).toEqual({ name: "b", at: 7 });
});
