import { expect, test } from "vitest";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { coverage } from "./coverage-table.js";

const COVERED = await coverage();

test("the coverage table has the 102 operations that the service names, 78 of them with a path", () => {
  expect(COVERED).toHaveLength(102);
  expect(new Set(COVERED.map(({ operation }) => operation)).size).toBe(102);
  expect(COVERED.filter(({ path }) => path === "documented")).toHaveLength(78);
});

test("the coverage table has every call of the contract once", () => {
  const calls = COVERED.flatMap(({ call }) => (call === undefined ? [] : [call]));
  expect(calls.toSorted()).toEqual(
    listOperations()
      .map(({ resource, name }) => `${resource}.${name}`)
      .toSorted(),
  );
});

test("the client and the sandbox have every operation whose shape the service shows", () => {
  const lacking = COVERED.filter(({ client, emulator }) => !client || !emulator);
  expect(lacking).toEqual([
    { operation: "read the analytics of a form", path: "none", call: undefined, client: false, emulator: false },
  ]);
});
