import { describe, expect, test } from "vitest";
import { ApiError, NotFoundError } from "#pigeonhole/client.js";
import { type ApiServer, type Reply, startApi } from "./api-server.js";
import { EMPTY_PAGE, WEBHOOK_ID, clientOf, rejection } from "./support.js";

const page = (ids: string[], nextCursor: string | null, hasMore = nextCursor !== null): Reply => ({
  body: { object: "list", data: ids.map((id) => ({ id, status: "failed" })), hasMore, nextCursor },
});

const urls = (server: ApiServer): string[] => server.received.map(({ url }) => url.replace("/v1", ""));

async function idsOf(rows: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of rows) ids.push(id);
  return ids;
}

describe("a list", () => {
  test("a list is one page when awaited", async () => {
    const server = await startApi(page(["a", "b"], "c1"));
    const first = await clientOf(server).webhooks.list({ limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(["a", "b"]);
    expect([first.hasMore, first.nextCursor]).toEqual([true, "c1"]);
    expect(urls(server)).toEqual(["/webhooks?limit=2"]);
  });

  test("a list is every row of every page in for await, with the cursor passed on unchanged", async () => {
    const odd = "a+b/c==&x=?%20 é";
    const server = await startApi(page(["a", "b"], odd), page([], "c2"), page(["c"], null));
    expect(await idsOf(clientOf(server).webhooks.list({ limit: 2 }))).toEqual(["a", "b", "c"]);
    const queries = server.received.map(({ url }) => Object.fromEntries(new URL(url, "http://x").searchParams));
    expect(queries).toEqual([{ limit: "2" }, { limit: "2", cursor: odd }, { limit: "2", cursor: "c2" }]);
  });

  test("a list ends at hasMore: false, whatever nextCursor says", async () => {
    const server = await startApi(page(["a"], "c1", false));
    expect(await idsOf(clientOf(server).webhooks.list())).toEqual(["a"]);
    expect(server.received).toHaveLength(1);
  });

  test("a list is nothing when there is nothing", async () => {
    const server = await startApi(EMPTY_PAGE);
    expect(await idsOf(clientOf(server).contactEvents.list("ada@example.com"))).toEqual([]);
  });

  test("a list goes on from a cursor, with the same filters", async () => {
    const server = await startApi(page(["b"], "c2"), page(["c"], null));
    const rows = clientOf(server).webhooks.deliveries(WEBHOOK_ID, { status: "failed", cursor: "c1" });
    expect(await idsOf(rows)).toEqual(["b", "c"]);
    expect(urls(server)).toEqual([
      `/webhooks/${WEBHOOK_ID}/deliveries?status=failed&cursor=c1`,
      `/webhooks/${WEBHOOK_ID}/deliveries?status=failed&cursor=c2`,
    ]);
  });

  test("a list asks for a page only when its rows are wanted", async () => {
    const server = await startApi(page(["a"], "c1"), page(["b"], "c2"));
    for await (const { id } of clientOf(server).webhooks.list()) if (id === "b") break;
    expect(server.received).toHaveLength(2);
  });

  test("a list can be awaited and walked, and the first page is asked for once", async () => {
    const server = await startApi(page(["a"], "c1"), page(["b"], null));
    const list = clientOf(server).webhooks.list();
    expect((await list).items).toHaveLength(1);
    expect(await idsOf(list)).toEqual(["a", "b"]);
    expect(server.received).toHaveLength(2);
  });

  test("a list does not pass off a part for the whole", async () => {
    const server = await startApi(page(["a"], null, true));
    const error = await rejection(idsOf(clientOf(server).webhooks.list()));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: "invalid_answer" });
  });

  test("a list does not take an empty nextCursor for one", async () => {
    const server = await startApi(page(["a"], "", true));
    const error = await rejection(idsOf(clientOf(server).webhooks.list()));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: "invalid_answer" });
  });

  test("a list keeps the filters it was called with, whatever becomes of the query object", async () => {
    const server = await startApi(page(["a"], "c1"), page(["b"], null));
    const query = { status: "failed" };
    const rows = clientOf(server).webhooks.deliveries(WEBHOOK_ID, query);
    query.status = "delivered";
    expect(await idsOf(rows)).toEqual(["a", "b"]);
    expect(urls(server).map((url) => url.split("?")[1])).toEqual(["status=failed", "status=failed&cursor=c1"]);
  });

  test("a list does not walk in a circle", async () => {
    const server = await startApi(page(["a"], "c1"), page(["b"], "c2"), page(["c"], "c1"));
    expect(await rejection(idsOf(clientOf(server).webhooks.list()))).toMatchObject({ code: "invalid_answer" });
    expect(server.received).toHaveLength(3);
  });

  test("a list fails at the page that fails", async () => {
    const server = await startApi(page(["a"], "c1"), { status: 404, body: { code: "contact_not_found" } });
    const seen: string[] = [];
    const walk = async () => {
      for await (const { id } of clientOf(server).webhooks.list()) seen.push(id);
    };
    expect(await rejection(walk())).toBeInstanceOf(NotFoundError);
    expect(seen).toEqual(["a"]);
  });
});
