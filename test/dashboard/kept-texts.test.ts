import { expect, test } from "vitest";
import { KeptTexts } from "#pigeonhole/dashboard/kept-texts.js";

test("texts are kept by all of their characters and by what they are of, whatever their length", () => {
  const kept = new KeptTexts(1_000);
  const long = "a".repeat(100_000);
  kept.set("evt_1", `${long}1`, "one");
  kept.set("evt_1", "\uD800", "half of a pair");
  expect(kept.get("evt_1", `${long}1`)).toBe("one");
  expect(kept.get("evt_1", `${long}2`)).toBeUndefined();
  expect(kept.get("evt_2", `${long}1`)).toBeUndefined();
  expect(kept.get("evt_1", "\uDBFF")).toBeUndefined();
  expect(kept.get("evt_", `1${long}1`)).toBeUndefined();
});

test("texts that were not asked for the longest go first", () => {
  const kept = new KeptTexts(1_000);
  const shown = "x".repeat(400);
  kept.set("evt_1", "a", shown);
  kept.set("evt_2", "a", shown);
  expect(kept.get("evt_1", "a")).toBe(shown);
  kept.set("evt_3", "a", shown);
  expect(["evt_1", "evt_2", "evt_3"].map((id) => kept.get(id, "a"))).toEqual([shown, undefined, shown]);
});
