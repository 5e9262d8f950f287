import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pageRows } from "#pigeonhole/sandbox/api/page-rows.js";

interface Row {
  id: number;
  createdMs: number;
  label: string;
}

function pageOf(rows: readonly Row[], limit?: number, cursor?: string) {
  const positionOf = ({ createdMs, id }: Row) => [createdMs, id];
  const numbered = rows.map((each) => ({ row: each, sequence: 0 }));
  return pageRows(numbered, { list: "endpoints", sortings: { newest: { positionOf } }, limit, cursor });
}

const row = (id: number, createdMs = id): Row => ({ id, createdMs, label: "" });
const rowsUpTo = (count: number): Row[] => Array.from({ length: count }, (_, index) => row(index + 1));

describe("a page", () => {
  test("a page holds 25 rows, newest first, and says whether more follow", () => {
    const first = pageOf(rowsUpTo(30));
    expect(first).toMatchObject({ object: "list", hasMore: true });
    expect(first.data.map(({ id }) => id)).toEqual(Array.from({ length: 25 }, (_, index) => 30 - index));
    const second = pageOf(rowsUpTo(30), undefined, first.nextCursor ?? "");
    expect(second).toMatchObject({ hasMore: false, nextCursor: null });
    expect(second.data.map(({ id }) => id)).toEqual([5, 4, 3, 2, 1]);
  });

  test("a walk through pages gives every remaining row once, whatever is deleted, edited and added between pages", () => {
    const change = fc.record({ kind: fc.constantFrom("delete", "edit", "add"), at: fc.nat(40) });
    fc.assert(
      fc.property(
        fc.array(fc.nat(10), { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 40 }),
        (times, limit, changes) => {
          let rows = times.map((createdMs, id) => row(id, createdMs));
          const deleted = new Set<number>();
          const seen: number[] = [];
          let cursor: string | undefined;
          for (let turn = 0; ; turn += 1) {
            const page = pageOf(rows, limit, cursor);
            seen.push(...page.data.map(({ id }) => id));
            if (page.nextCursor === null) break;
            cursor = page.nextCursor;
            for (const { kind, at } of changes[turn] ?? []) {
              if (kind === "delete") {
                deleted.add(at);
                rows = rows.filter(({ id }) => id !== at);
              } else if (kind === "edit") {
                rows = rows.map((each) => (each.id === at ? { ...each, label: "edited" } : each));
              } else {
                // Newer than all: it sorts before the place where the walk is.
                rows = [...rows, row(1000 + turn * 10 + rows.length, 99)];
              }
            }
          }
          expect(new Set(seen).size).toBe(seen.length);
          const stayed = times.map((_, id) => id).filter((id) => !deleted.has(id));
          expect(seen).toEqual(expect.arrayContaining(stayed));
        },
      ),
    );
  });
});
