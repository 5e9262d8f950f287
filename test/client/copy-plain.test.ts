import { expect, test } from "vitest";
import { copyPlain } from "#pigeonhole/client/copy-plain.js";

test("a copy has the plain objects and lists of a value, and keeps every other object as it is", () => {
  const date = new Date(0);
  const bytes = new Uint8Array(1);
  const { signal } = new AbortController();
  const bare = Object.assign(Object.create(null) as object, { a: 1 });
  const value = { list: [{ a: 1 }, date], bytes, signal, bare, none: undefined };
  const copy = copyPlain(value) as typeof value;
  expect(copy).toEqual(value);
  expect(Object.keys(copy)).toEqual(Object.keys(value));
  expect(copy.list).not.toBe(value.list);
  expect(copy.list[0]).not.toBe(value.list[0]);
  expect(Object.getPrototypeOf(copy.bare)).toBeNull();
  expect([copy.list[1], copy.bytes, copy.signal]).toEqual([date, bytes, signal]);
  expect([copy.list[1] === date, copy.bytes === bytes, copy.signal === signal]).toEqual([true, true, true]);
});

test("a copy of a value with a cycle, a key __proto__ or great depth has them too", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const copy = copyPlain(cycle) as typeof cycle;
  expect(copy).not.toBe(cycle);
  expect(copy.self).toBe(copy);
  const tricky = copyPlain(JSON.parse('{"__proto__":{"a":1}}')) as { a?: number };
  expect(Object.keys(tricky)).toEqual(["__proto__"]);
  expect(tricky.a).toBeUndefined();
  const deep = JSON.parse(`${"[".repeat(1_000)}${"]".repeat(1_000)}`) as unknown;
  expect(JSON.stringify(copyPlain(deep))).toBe(JSON.stringify(deep));
});
