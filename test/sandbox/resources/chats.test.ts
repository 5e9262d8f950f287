import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/error-of.js";
import { START } from "../support.js";
import { openWorld } from "./support.js";

const day = (count: number) => new Date(START + count * 86_400_000).toISOString();

function openChats() {
  const { sandbox, client } = openWorld({
    chats: [
      { title: "Beta", updatedAt: day(1) },
      { title: "alpha", updatedAt: day(3), kind: "draft", messageCount: 9 },
      { title: "gamma orders", updatedAt: day(2) },
    ],
  });
  const titlesOf = ({ items }: { items: { title: string }[] }) => items.map(({ title }) => title).join(" ");
  return { sandbox, chats: client.chats, titlesOf };
}

describe("chats", () => {
  test("chats are listed in the order that is asked for, and a cursor keeps its order", async () => {
    const { chats, titlesOf } = openChats();
    expect(titlesOf(await chats.list())).toBe("alpha gamma orders Beta");
    expect(titlesOf(await chats.list({ sort: "oldest" }))).toBe("Beta gamma orders alpha");
    expect(titlesOf(await chats.list({ sort: "title" }))).toBe("alpha Beta gamma orders");
    expect(titlesOf(await chats.list({ q: "ORDER" }))).toBe("gamma orders");
    const { nextCursor } = await chats.list({ sort: "title", limit: 1 });
    expect(titlesOf(await chats.list({ sort: "newest", cursor: nextCursor ?? "" }))).toBe("Beta gamma orders");
    expect(await refusalOf(() => chats.list({ sort: "random" }))).toMatchObject({ param: "sort" });
  });

  test("chats of one title are two chats, with the same ids in every run", async () => {
    const ids = [0, 1].map(() =>
      openWorld({ chats: [{ title: "a" }, { title: "a" }] })
        .sandbox.rows("chats")
        .map((row) => (row as { id: string }).id),
    );
    expect(new Set(ids[0]).size).toBe(2);
    expect(ids[0]).toEqual(ids[1]);
    const same = ["a", "b"].map((title) => ({ title, id: ids[0]?.[0] ?? "" }));
    expect(() => openWorld({ chats: same })).toThrow(/Two rows of kind chat have the same id/);
  });

  test("a chat is read, renamed and deleted", async () => {
    const { chats } = openChats();
    const [first] = (await chats.list()).items;
    const id = first?.id ?? "";
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      title: "alpha",
      kind: "draft",
      messageCount: 9,
      updatedAt: day(3),
    });
    const title = "x".repeat(120);
    expect(await chats.rename(id.toUpperCase(), { title })).toEqual({ ...first, title });
    expect(await chats.get(id)).toMatchObject({ updatedAt: day(3) });
    for (const wrong of ["", "x".repeat(121)]) {
      expect(await refusalOf(() => chats.rename(id, { title: wrong }))).toMatchObject({ param: "title" });
    }
    expect(await chats.delete(id)).toEqual({ object: "chat", id, deleted: true });
  });
});
