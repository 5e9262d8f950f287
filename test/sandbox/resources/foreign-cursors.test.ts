import { describe, expect, test } from "vitest";
import { verdict } from "../api/support.js";
import { ALL_ROWS, type CallRow, SUPPORT, type World, openWorld, requestOf, stateOf } from "./support.js";

const LISTS = ALL_ROWS.filter(({ operation }) => operation.paged === true);
const ADA = "ada@x.example";

/** Ids that fill the paths of a list, by name of the path parameter. */
type Owner = Record<string, string>;

/** A workspace with two rows in many lists, and two owners of lists that belong to one thing. */
async function openFilled() {
  const world = openWorld({
    contacts: [{ email: ADA }, { email: "bob@x.example" }],
    chats: [{ title: "a" }, { title: "b" }],
  });
  const { client } = world;
  const owners: Record<string, Owner[]> = { contactEvents: [{ email: ADA }, { email: "bob@x.example" }] };
  for (const n of ["1", "2"]) {
    await client.labels.create({ name: n });
    await client.drafts.create({ subject: n });
    await client.forms.create({ name: n });
    await client.signatures.create({ address: SUPPORT, name: n, html: n });
    const file = await client.files.upload(Buffer.from(n), { filename: n });
    const endpoint = await client.webhooks.create({ url: "http://127.0.0.1:9/" });
    for (let count = 0; count < 2; count += 1) {
      await client.files.createLink(file.id, {});
      await client.webhooks.test(endpoint.id);
      for (const email of [ADA, "bob@x.example"]) await client.contactEvents.send({ name: n, email });
    }
    (owners["files"] ??= []).push({ id: file.id });
    (owners["webhooks"] ??= []).push({ id: endpoint.id });
  }
  const ownersOf = ({ resource, operation }: CallRow): Owner[] =>
    operation.params === undefined ? [{}] : (owners[resource] ?? []);
  return { ...world, ownersOf };
}

/** One page of a list; without the filters of its example unless they are given. */
async function page({ send }: World, { operation }: CallRow, { params = {}, query = {} }: Call) {
  const bare = { ...operation, example: { ...operation.example, query: {} } };
  const { line } = requestOf(bare, { params, query });
  return send(line);
}

interface Call {
  params?: Owner;
  query?: Record<string, unknown>;
}

/** A cursor of the first row of every list that has two. */
async function cursorsOf(world: Awaited<ReturnType<typeof openFilled>>): Promise<Map<string, string>> {
  const cursors = new Map<string, string>();
  for (const row of LISTS) {
    const { body } = await page(world, row, { params: world.ownersOf(row)[0] ?? {}, query: { limit: 1 } });
    if (typeof body["nextCursor"] === "string") cursors.set(row.call, body["nextCursor"]);
  }
  return cursors;
}

const refusalOf = ({ operation: { pageParam = "cursor" } }: CallRow): string => `400 invalid_cursor ${pageParam}`;

describe("the cursor of a list", () => {
  test("a cursor of any other list is refused by every list, and nothing is stored", async () => {
    const world = await openFilled();
    const cursors = await cursorsOf(world);
    expect(cursors.size).toBeGreaterThan(12);
    const before = JSON.stringify(stateOf(world));
    for (const row of LISTS) {
      const { pageParam = "cursor" } = row.operation;
      const params = world.ownersOf(row)[0] ?? {};
      for (const [call, cursor] of cursors) {
        const answer = await page(world, row, { params, query: { [pageParam]: cursor } });
        expect(verdict(answer), `${row.call} with a cursor of ${call}`).toBe(
          call === row.call ? "200" : refusalOf(row),
        );
      }
    }
    expect(JSON.stringify(stateOf(world))).toBe(before);
  });

  test("a cursor of the list of another owner is refused", async () => {
    const world = await openFilled();
    const cursors = await cursorsOf(world);
    const owned = LISTS.filter((row) => world.ownersOf(row).length > 1);
    expect(owned.length).toBeGreaterThan(2);
    for (const row of owned) {
      const [, params = {}] = world.ownersOf(row);
      const answer = await page(world, row, { params, query: { cursor: cursors.get(row.call) } });
      expect(verdict(answer), row.call).toBe(refusalOf(row));
    }
  });

  test("a cursor is refused with another filter, and carries on in its own order", async () => {
    const world = await openFilled();
    const cursors = await cursorsOf(world);
    let filters = 0;
    for (const row of LISTS) {
      const { query, example, pageParam = "cursor" } = row.operation;
      const params = world.ownersOf(row)[0] ?? {};
      for (const field of Object.keys(query?.shape ?? {})) {
        const value = example.query?.[field];
        if (value === undefined || field === "limit" || field === pageParam || !cursors.has(row.call)) continue;
        const answer = await page(world, row, {
          params,
          query: { [field]: value, [pageParam]: cursors.get(row.call) },
        });
        expect(verdict(answer), `${row.call} ${field}`).toBe(field === "sort" ? "200" : refusalOf(row));
        if (field !== "sort") filters += 1;
      }
    }
    expect(filters).toBeGreaterThan(6);
  });

  test("a cursor that is changed, cut, doubled or made up is refused", async () => {
    const world = await openFilled();
    const cursors = await cursorsOf(world);
    for (const row of LISTS) {
      const { pageParam = "cursor" } = row.operation;
      const params = world.ownersOf(row)[0] ?? {};
      const own = cursors.get(row.call) ?? "";
      const made = ["x", "__proto__", "null", "[]", "e30=", `${own}x`, `${own}.${own}`, own.slice(1), "x".repeat(5000)];
      for (const cursor of made) {
        const answer = await page(world, row, { params, query: { [pageParam]: cursor } });
        expect(verdict(answer), `${row.call} ${cursor.slice(0, 40)}`).toBe(refusalOf(row));
      }
    }
  });
});
