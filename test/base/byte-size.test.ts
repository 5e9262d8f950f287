import { expect, test } from "vitest";
import { readByteSize } from "#pigeonhole/base/text.js";

test.each([
  ["500", 500],
  ["500b", 500],
  ["64k", 65_536],
  ["64KB", 65_536],
  ["1.5m", 1_572_864],
  ["5mb", 5_242_880],
])("the size %s is %i bytes", (text, bytes) => {
  expect(readByteSize(text)).toBe(bytes);
});

test.each(["", "k", "5g", "-1", "1e3", "1.5.2", "5 mb"])("the text %j is no size", (text) => {
  expect(readByteSize(text)).toBeUndefined();
});
