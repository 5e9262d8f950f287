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
  test("a list that is awaited is one page", async () => {
    const server = await startApi(page(["a", "b"], "c1"));
    const first = await clientOf(server).webhooks.list({ limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(["a", "b"]);
    expect([first.hasMore, first.nextCursor]).toEqual([true, "c1"]);
    expect(urls(server)).toEqual(["/webhooks?limit=2"]);
  });

  test("a list in for await gives every row of every page, and passes the cursor on unchanged", async () => {
    const odd = "a+b/c==&x=?%20 é";
    const server = await startApi(page(["a", "b"], odd), page([], "c2"), page(["c"], null));
    expect(await idsOf(clientOf(server).webhooks.list({ limit: 2 }))).toEqual(["a", "b", "c"]);
    const queries = server.received.map(({ url }) => Object.fromEntries(new URL(url, "http://x").searchParams));
    expect(queries).toEqual([{ limit: "2" }, { limit: "2", cursor: odd }, { limit: "2", cursor: "c2" }]);
  });

  test("a list of drafts goes on when the answer names its token pageToken", async () => {
    const drafts = (id: string, pageToken?: string): Reply => ({
      body: { object: "list", data: [{ object: "draft", id }], hasMore: pageToken !== undefined, pageToken },
    });
    const server = await startApi(drafts("draft-a", "t2"), drafts("draft-b"));
    expect(await idsOf(clientOf(server).drafts.list())).toEqual(["draft-a", "draft-b"]);
    expect(urls(server)).toEqual(["/drafts", "/drafts?pageToken=t2"]);
  });

  test("a list ends at hasMore: false, whatever nextCursor says", async () => {
    const server = await startApi(page(["a"], "c1", false));
    expect(await idsOf(clientOf(server).webhooks.list())).toEqual(["a"]);
    expect(server.received).toHaveLength(1);
  });

  test("a list without rows gives none", async () => {
    const server = await startApi(EMPTY_PAGE);
    expect(await idsOf(clientOf(server).contactEvents.list("ada@example.com"))).toEqual([]);
  });

  test("a list continues from a cursor with the same filters", async () => {
    const server = await startApi(page(["b"], "c2"), page(["c"], null));
    const rows = clientOf(server).webhooks.deliveries(WEBHOOK_ID, { status: "failed", cursor: "c1" });
    expect(await idsOf(rows)).toEqual(["b", "c"]);
    expect(urls(server)).toEqual([
      `/webhooks/${WEBHOOK_ID}/deliveries?status=failed&cursor=c1`,
      `/webhooks/${WEBHOOK_ID}/deliveries?status=failed&cursor=c2`,
    ]);
  });

  test("a list requests a page only when its rows are needed", async () => {
    const server = await startApi(page(["a"], "c1"), page(["b"], "c2"));
    for await (const { id } of clientOf(server).webhooks.list()) if (id === "b") break;
    expect(server.received).toHaveLength(2);
  });

  test("a list can be awaited and iterated, and its first page is requested once", async () => {
    const server = await startApi(page(["a"], "c1"), page(["b"], null));
    const list = clientOf(server).webhooks.list();
    expect((await list).items).toHaveLength(1);
    expect(await idsOf(list)).toEqual(["a", "b"]);
    expect(server.received).toHaveLength(2);
  });

  test.each<[string, Reply[]]>([
    ["has no cursor for its next page", [page(["a"], null, true)]],
    ["has an empty cursor", [page(["a"], "", true)]],
    ["repeats a cursor", [page(["a"], "c1"), page(["b"], "c2"), page(["c"], "c1")]],
  ])("a list that %s fails instead of ending early or running in a circle", async (_, pages) => {
    const server = await startApi(...pages);
    const error = await rejection(idsOf(clientOf(server).webhooks.list()));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: "invalid_answer" });
    expect(server.received).toHaveLength(pages.length);
  });

  test("a list keeps the filters of the call, even if the query object changes later", async () => {
    const server = await startApi(page(["a"], "c1"), page(["b"], null));
    const query = { status: "failed" };
    const rows = clientOf(server).webhooks.deliveries(WEBHOOK_ID, query);
    query.status = "delivered";
    expect(await idsOf(rows)).toEqual(["a", "b"]);
    expect(urls(server).map((url) => url.split("?")[1])).toEqual(["status=failed", "status=failed&cursor=c1"]);
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
