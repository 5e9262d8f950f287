import { expect, test } from "vitest";
import { createLazyClient } from "#pigeonhole/client/create-lazy-client.js";
import { startApi } from "./api-server.js";
import { API_KEY, rejection } from "./support.js";

const page = (id: string, nextCursor: string | null) => ({
  body: { data: [{ id }], hasMore: nextCursor !== null, nextCursor },
});

test("a client that is loaded with its first call walks lists, and rejects as every other does", async () => {
  const server = await startApi(page("1", "next"), page("2", null), page("3", null), { status: 403, body: {} });
  const { labels } = createLazyClient({ apiKey: API_KEY, baseUrl: server.baseUrl, maxRetries: 0 });
  const walk = async (limit: number): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of labels.list({ limit })) ids.push(id);
    return ids;
  };
  expect(await walk(1)).toEqual(["1", "2"]);
  expect((await labels.list()).items).toMatchObject([{ id: "3" }]);
  // A rejection that nobody handles would end the test run.
  expect(await rejection(walk(1))).toMatchObject({ status: 403 });
  expect(await rejection(walk(0))).toMatchObject({ name: "InvalidInputError", param: "limit" });
});

test("a client that is loaded later refuses wrong options at once", () => {
  expect(() => createLazyClient({ apiKey: "", baseUrl: "https://api.example.com" })).toThrowError(/apiKey is empty/);
});
