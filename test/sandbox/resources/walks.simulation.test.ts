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
  /** What two rows may not have in common: what they are, or what they were made as. @default what they are */
  clash?: readonly ("n" | "made")[];
  /** An id that no row has. @default unknown */
  unknown?: string;
  /** The parameter that `nextCursor` goes back as. @default cursor */
  tokenName?: string;
  /** What a call of an unknown row is answered: status and code. @default 404 resource_not_found */
  missing?: string;
  /** Most rows, more than which are 422 `workspace_limit_reached`. @default more than a walk makes */
  most?: number;
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

const newestFirst = (a: Row, b: Row) => b.sequence - a.sequence;

/** For rows that are shown as they were sent. */
const asSent = (body: (n: number) => object) => ({ create: body, change: body, shown: body });

const WALKED: Record<string, Walked> = {
  webhooks: {
    path: "/webhooks",
    ...asSent((n) => ({ url: `https://hooks.example.com/${n}` })),
    unknown: `whe_${"0".repeat(24)}`,
    most: 10,
    compare: newestFirst,
  },
  forms: {
    path: "/forms",
    ...asSent((n) => ({ name: `Form ${n}` })),
    missing: "404 form_not_found",
    unknown: `frm_${"0".repeat(24)}`,
    compare: newestFirst,
  },
  drafts: {
    path: "/drafts",
    ...asSent((n) => ({ subject: `Subject ${n}` })),
    shown: () => ({}),
    tokenName: "pageToken",
    // The clock stands, so all were saved at one time.
    compare: newestFirst,
  },
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
    clash: ["n", "made"],
    compare: byName((n) => `Label ${n}`),
  },
};

/** The rows of every page of a list, with what each page says of the next. */
async function listAll({ send }: World, path: string, limit: number, tokenName: string) {
  const rows: Record<string, unknown>[] = [];
  for (let token: Record<string, string> = {}; ;) {
    const search = new URLSearchParams({ limit: String(limit), ...token });
    const { status, body } = await send(`GET ${path}?${search.toString()}`);
    expect(status, JSON.stringify(body)).toBe(200);
    const { data, hasMore, nextCursor } = body as unknown as Page;
    expect(data.length).toBeLessThanOrEqual(limit);
    expect(hasMore).toBe(nextCursor !== null);
    rows.push(...data);
    if (nextCursor === null) return rows;
    token = { [tokenName]: nextCursor };
  }
}

interface Page {
  data: Record<string, unknown>[];
  hasMore: boolean;
  nextCursor: string | null;
}

/** A failure prints seed and path of a short walk; `PIGEONHOLE_WALK='{"seed":1,"path":"0:1"}'` takes that again. */
const AGAIN = JSON.parse(process.env["PIGEONHOLE_WALK"] ?? "{}") as { seed?: number; path?: string };

const step = fc.record({
  kind: fc.constantFrom("create", "create", "change", "delete", "get"),
  n: fc.nat(9),
  at: fc.nat(9),
});

describe("a random walk of calls", () => {
  test.each(Object.entries(WALKED))("a walk over %s does what a plain list does", async (_, walked) => {
    const { path, create, change, shown, taken, compare } = walked;
    const { clash = ["n"], unknown = "unknown", missing = "404 resource_not_found" } = walked;
    const { tokenName = "cursor", most = Infinity } = walked;
    // By itself, fast-check makes lists of about ten.
    const steps = fc.array(step, { maxLength: 25, size: "max" });
    const walks = fc.record({ steps, limit: fc.integer({ min: 1, max: 4 }) });
    const takeWalk = fc.asyncProperty(walks, async ({ steps, limit }) => {
      const world = openWorld({ contacts: [] });
      const rows: Row[] = [];
      const isTaken = (n: number, id?: string) =>
        taken !== undefined &&
        rows.some((row) =>
          id === undefined ? clash.some((of) => row[of] === n) : clash.includes("n") && row.n === n && row.id !== id,
        );
      for (const [sequence, { kind, n, at }] of steps.entries()) {
        const row = rows[at % Math.max(1, rows.length)];
        const line = `${path}/${encodeURIComponent(row?.id ?? unknown)}`;
        if (kind === "create") {
          const { status, body } = await world.send(`POST ${path}`, { body: create(n) });
          const refused = isTaken(n) ? taken : rows.length < most ? undefined : "422 workspace_limit_reached";
          if (refused !== undefined) expect(`${status} ${String(body["code"])}`).toBe(refused);
          else {
            expect([status, body]).toEqual([201, expect.objectContaining(shown(n))]);
            rows.push({ id: body["id"] as string, n, made: n, sequence });
          }
          continue;
        }
        const method = { change: "PATCH", delete: "DELETE", get: "GET" }[kind];
        const init = kind === "change" ? { body: change(n) } : {};
        const { status, body } = await world.send(`${method} ${line}`, init);
        const refused = row === undefined ? missing : kind === "change" && isTaken(n, row?.id) ? taken : undefined;
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
      const listed = await listAll(world, path, limit, tokenName);
      expect(listed.map((row) => row["id"])).toEqual(rows.toSorted(compare).map(({ id }) => id));
    });
    await fc.assert(takeWalk, { numRuns: 25, ...AGAIN });
  });
});
