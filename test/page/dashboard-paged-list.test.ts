import { expect, test } from "vitest";
import { createPagedList } from "../../src/page/state/create-paged-list.js";

interface Row {
  id: number;
  version: number;
}

/** A list in pages of two. */
function listOf(rows: () => readonly Row[], reads: string[] = []) {
  return createPagedList<Row>(
    (cursor) => {
      reads.push(cursor);
      const from = Number(cursor);
      const isLast = from + 2 >= rows().length;
      return Promise.resolve({ items: rows().slice(from, from + 2), nextCursor: isLast ? null : String(from + 2) });
    },
    ({ id }) => id,
  );
}

test("a list that is loaded again has as many pages as were shown", async () => {
  let version = 1;
  const list = listOf(() => [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id, version })));
  await list.load();
  await list.load(true);
  version = 2;
  await list.refresh();
  expect(list.items.value).toEqual([1, 2, 3, 4].map((id) => ({ id, version: 2 })));
  expect(list.nextCursor.value).toBe("4");
  await list.load();
  expect(list.items.value).toHaveLength(2);
});

test("a list is shorter once there is less, and has what comes again once", async () => {
  let ids = [1, 2, 3, 4, 5];
  const list = listOf(() => ids.map((id) => ({ id, version: 1 })));
  await list.load();
  ids = [9, 1, 2, 3];
  await list.load(true);
  expect(list.items.value.map(({ id }) => id)).toEqual([1, 2, 3]);
  ids = [9];
  await list.refresh();
  expect(list.items.value.map(({ id }) => id)).toEqual([9]);
  ids = [9, 1, 2];
  await list.refresh();
  expect([list.items.value.length, list.nextCursor.value]).toEqual([2, "2"]);
});

test("a list is not loaded again while a page is read", async () => {
  const reads: string[] = [];
  const list = listOf(() => [1, 2, 3].map((id) => ({ id, version: 1 })), reads);
  await list.load();
  await Promise.all([list.load(true), list.refresh()]);
  expect(reads).toEqual(["", "2"]);
  expect(list.items.value).toHaveLength(3);
});
