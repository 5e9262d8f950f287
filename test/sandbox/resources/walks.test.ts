import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SUPPORT, type World, openWorld } from "./support.js";

/** A collection of the API as a plain model sees it. */
interface Walked {
  /** Path of the list and of creation; rows are at `<path>/<id>`. */
  path: string;
  /** The body that creates row `n`. Equal numbers clash. */
  create: (n: number) => object;
  /** The body that changes a row into `n`. */
  change: (n: number) => object;
  /** What a row of the API has of `n`. */
  shown: (n: number) => object;
  /** What the second of two equal ones is answered. @default there may be equal ones */
  taken?: string;
  /** True when a row keeps others from being made as it was, after a change too. @default false */
  keepsPlace?: boolean;
  /** The order of the list, as a sort key of `n` and the order of creation. */
  compare: (a: Row, b: Row) => number;
}

interface Row {
  id: string;
  n: number;
  /** What `n` was at creation. */
  made: number;
  sequence: number;
}

const byName = (name: (n: number) => string) => (a: Row, b: Row) => (name(a.n) < name(b.n) ? -1 : 1);

const inOrder = (a: Row, b: Row) => a.sequence - b.sequence;

const WALKED: Record<string, Walked> = {
  signatures: {
    path: "/signatures",
    create: (n) => ({ address: SUPPORT, name: `Name ${n}`, html: `<p>${n}</p>` }),
    change: (n) => ({ name: `NAME ${n}`, html: `<p>${n}</p>` }),
    shown: (n) => ({ html: `<p>${n}</p>`, address: SUPPORT }),
    taken: "409 signature_name_taken",
    compare: inOrder,
  },
  labels: {
    path: "/labels",
    // Upper and lower case of one letter are equal to the service.
    create: (n) => ({ name: `Label ${n}` }),
    change: (n) => ({ name: `label ${n}` }),
    shown: (n) => ({ name: expect.stringMatching(new RegExp(`^label ${n}$`, "i")) as string }),
    taken: "409 label_name_taken",
    keepsPlace: true,
    compare: byName((n) => `Label ${n}`),
  },
};

/** Ids of every page of the list. */
async function walk({ send }: World, path: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const { body } = await send(`GET ${path}?limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    const page = body as unknown as { data: { id: string }[]; hasMore: boolean; nextCursor: string | null };
    ids.push(...page.data.map(({ id }) => id));
    expect(page.hasMore).toBe(page.nextCursor !== null);
    if (page.nextCursor === null) return ids;
    cursor = encodeURIComponent(page.nextCursor);
  }
}

const step = fc.record({
  kind: fc.constantFrom("create", "create", "change", "delete", "get"),
  n: fc.nat(9),
  at: fc.nat(9),
});

describe("a random walk of calls", () => {
  test.each(Object.entries(WALKED))("a walk over %s does what a plain list does", async (_, walked) => {
    const { path, create, change, shown, taken, keepsPlace = false, compare } = walked;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
        const world = openWorld();
        const rows: Row[] = [];
        const isTaken = (n: number, id?: string) =>
          taken !== undefined &&
          rows.some((row) => (row.n === n && row.id !== id) || (id === undefined && keepsPlace && row.made === n));
        for (const [sequence, { kind, n, at }] of steps.entries()) {
          const row = rows[at % Math.max(1, rows.length)];
          const line = `${path}/${encodeURIComponent(row?.id ?? "unknown")}`;
          const missing = row === undefined ? "404 resource_not_found" : undefined;
          if (kind === "create") {
            const { status, body } = await world.send(`POST ${path}`, { body: create(n) });
            if (isTaken(n)) expect(`${status} ${String(body["code"])}`).toBe(taken);
            else {
              expect([status, body]).toEqual([201, expect.objectContaining(shown(n))]);
              rows.push({ id: body["id"] as string, n, made: n, sequence });
            }
            continue;
          }
          const method = { change: "PATCH", delete: "DELETE", get: "GET" }[kind];
          const init = kind === "change" ? { body: change(n) } : {};
          const { status, body } = await world.send(`${method} ${line}`, init);
          const refused = missing ?? (kind === "change" && isTaken(n, row?.id) ? taken : undefined);
          if (refused !== undefined || row === undefined) {
            expect(`${status} ${String(body["code"])}`).toBe(refused);
            continue;
          }
          expect(status).toBe(200);
          if (kind === "change") row.n = n;
          if (kind === "delete") {
            expect(body).toMatchObject({ id: row.id, deleted: true });
            rows.splice(rows.indexOf(row), 1);
          } else expect(body).toMatchObject({ id: row.id, ...shown(row.n) });
        }
        expect(await walk(world, path, limit)).toEqual(rows.toSorted(compare).map(({ id }) => id));
      }),
      { numRuns: 40 },
    );
  });
});
