import { describe, expect, test } from "vitest";
import { startApi } from "./api-server.js";
import { EMPTY_PAGE, clientOf, rejection } from "./support.js";

// A resource is loaded with its first call in a process, so each test here has a resource of its own.

describe("the first call of a resource", () => {
  test("the first call of a resource sends what it was given, even if the object changes before it is loaded", async () => {
    const server = await startApi({ status: 201, body: { id: "USER_A" } });
    const { labels } = clientOf(server);
    const input = { name: "A", color: { backgroundColor: "#fff" } };
    for (const name of ["A", "B"]) {
      input.name = name;
      const created = labels.create(input);
      input.name = "changed";
      await created;
    }
    expect(server.received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { name: "A", color: { backgroundColor: "#fff" } },
      { name: "B", color: { backgroundColor: "#fff" } },
    ]);
  });

  test("the first call of a resource may be a list, whose pages are walked", async () => {
    const page = (id: string, nextCursor: string | null) => ({
      body: { data: [{ id }], hasMore: nextCursor !== null, nextCursor },
    });
    const server = await startApi(page("1", "next"), page("2", null));
    const walked: string[] = [];
    for await (const { id } of clientOf(server).chats.list({ limit: 1 })) walked.push(id);
    expect(walked).toEqual(["1", "2"]);
    expect(server.received.map(({ url }) => url)).toEqual(["/v1/chats?limit=1", "/v1/chats?limit=1&cursor=next"]);
  });

  test("the first call of a resource rejects as every other does", async () => {
    const server = await startApi(EMPTY_PAGE);
    const { drafts } = clientOf(server);
    const refused = { name: "InvalidInputError", param: "limit" };
    const walk = async () => {
      for await (const draft of drafts.list({ limit: 0 })) expect(draft).toBeUndefined();
    };
    expect(await rejection(walk())).toMatchObject(refused);
    expect(await rejection(drafts.list({ limit: 0 }))).toMatchObject(refused);
    const aborted = new AbortController();
    const call = clientOf(server).signatures.list({}, { signal: aborted.signal });
    aborted.abort(new Error("Enough."));
    expect(await rejection(call)).toMatchObject({ message: "Enough." });
    expect(server.received).toEqual([]);
  });

  test("first calls of a resource at one time are all sent", async () => {
    const server = await startApi(EMPTY_PAGE);
    const client = clientOf(server);
    await Promise.all([client.files.list(), client.files.list({ q: "a" }), clientOf(server).files.list({ q: "b" })]);
    expect(server.received.map(({ url }) => url).toSorted()).toEqual(["/v1/files", "/v1/files?q=a", "/v1/files?q=b"]);
  });
});
