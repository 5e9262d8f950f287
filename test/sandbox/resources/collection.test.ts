import { describe, expect, test } from "vitest";
import { SandboxApiError } from "#pigeonhole/sandbox/api/api-handlers.js";
import { Collection, type CollectionRow } from "#pigeonhole/sandbox/api/collection.js";

interface Thing extends CollectionRow {
  name: string;
  owner: string;
}

const MAX = 3;

/** Things with names that are unique for each owner without case, and at most three for each. */
function things(): Collection<Thing> {
  return new Collection<Thing>({
    kind: "thing",
    idOf: (_, sequence) => `t${sequence}`,
    limit: { max: MAX, groupOf: ({ owner }) => owner, code: "label_limit_reached", param: "name" },
    unique: {
      keyOf: ({ name, owner }) => `${owner} ${name.toLowerCase()}`,
      code: "label_name_taken",
    },
  });
}

const make = (name: string, owner = "a") => ({ name, owner });

/** The code of the refusal, or the value. */
function outcome<Value>(run: () => Value): Value | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof SandboxApiError) return error.code;
    throw error;
  }
}

describe("a collection", () => {
  test("a collection refuses a taken id as it refuses a taken name, or as a mistake where names may repeat", () => {
    const named = things();
    named.add(make("x"));
    expect(outcome(() => named.add(make("y"), "t1"))).toBe("label_name_taken");
    const unnamed = new Collection<CollectionRow>({ kind: "thing" });
    unnamed.add({}, "t1");
    expect(() => unnamed.add({}, "t1")).toThrow(/Two rows of kind thing/);
    expect(unnamed.rows).toHaveLength(1);
  });

  test("a cursor carries on in the order that it was issued in", () => {
    const collection = things();
    for (const name of ["m", "a", "z"]) collection.add(make(name));
    const sortings = {
      newest: { positionOf: (_: Thing, sequence: number) => [sequence] },
      name: { positionOf: (row: Thing) => [row.name, row.id], order: "ascending" as const },
    };
    const list = { list: "things", sortings, limit: 2 };
    const namesOf = (page: { data: Thing[] }) => page.data.map(({ name }) => name);
    const first = collection.page({ ...list, sort: "name" });
    expect(namesOf(first)).toEqual(["a", "m"]);
    const cursor = first.nextCursor ?? "";
    for (const sort of ["name", "newest", undefined] as const) {
      expect(namesOf(collection.page({ ...list, sort, cursor }))).toEqual(["z"]);
    }
    expect(namesOf(collection.page(list))).toEqual(["z", "a"]);
  });

  test("a collection shows a row only to those who see it", () => {
    const collection = things();
    collection.add(make("x"));
    expect(collection.get("t1").name).toBe("x");
    expect(outcome(() => collection.get("t1", () => false))).toBe("resource_not_found");
  });
});
