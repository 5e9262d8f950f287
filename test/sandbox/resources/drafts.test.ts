import { describe, expect, test } from "vitest";
import { readDraftSearch } from "#pigeonhole/sandbox/resources/draft-search.js";
import { SUPPORT, openWorld } from "./support.js";

function openDrafts() {
  const world = openWorld();
  const { drafts } = world.client;
  const read = async (input: Parameters<typeof drafts.create>[0]) => drafts.get((await drafts.create(input)).id);
  return { ...world, drafts, read };
}

describe("drafts", () => {
  test("a draft without any field has an id, and reads as an empty one", async () => {
    const { drafts } = openDrafts();
    const made = await drafts.create({});
    expect(made).toEqual({
      object: "draft",
      id: expect.stringMatching(/^draft-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string,
    });
    expect(await drafts.get(made.id)).toEqual({
      id: made.id,
      to: [],
      cc: [],
      bcc: [],
      subject: "(no subject)",
      html: "",
      from: null,
      threadId: null,
      forwardOf: null,
      attachments: [],
    });
  });

  test("a draft has bare addresses, its text as HTML, and a sender that the workspace can send as", async () => {
    const { read } = openDrafts();
    const draft = await read({
      to: ["Ada <ada@x.example>", "bob@x.example"],
      cc: ["Doe, Jane <jane@x.example>"],
      text: "a < b",
      from: `Us <${SUPPORT}>`,
    });
    expect(draft).toMatchObject({
      to: ["ada@x.example", "bob@x.example"],
      cc: ["Doe", "jane@x.example"],
      html: "a < b",
      from: `Us <${SUPPORT}>`,
    });
    expect((await read({ from: "us@elsewhere.example" })).from).toBeNull();
    expect((await read({ html: "<p>h</p>", text: "t" })).html).toBe("<p>h</p>");
  });

  test("an update of a draft replaces the fields that are sent, and the id stays", async () => {
    const { drafts, read } = openDrafts();
    const { id } = await read({ to: ["a@x.example"], cc: ["b@x.example"], subject: "s", from: SUPPORT, threadId: "t" });
    expect(await drafts.update(id, { to: [], text: "new" })).toEqual({ object: "draft", id });
    const kept = { cc: ["b@x.example"], subject: "s", from: SUPPORT, threadId: "t" };
    expect(await drafts.get(id)).toMatchObject({ ...kept, to: [], html: "new" });
    await drafts.update(id, { from: null, threadId: "", subject: "" });
    expect(await drafts.get(id)).toMatchObject({ from: null, threadId: null, subject: "(no subject)" });
  });

  test("a draft that forwards a message takes its files and its subject, until it is moved", async () => {
    const { drafts, read, sandbox } = openDrafts();
    const attachments = [{ filename: "a.pdf", contentType: "application/pdf", size: 3 }];
    sandbox.emit("email.received", { messageId: "m1", threadId: "t1", subject: "Question", attachments });
    const draft = await read({ threadId: "t1", forwardOf: "m1" });
    expect(draft).toMatchObject({ subject: "Fwd: Question", forwardOf: "m1", attachments });
    await drafts.update(draft.id, { subject: "Other", threadId: "t1" });
    expect(await drafts.get(draft.id)).toMatchObject({ forwardOf: "m1", attachments });
    await drafts.update(draft.id, { threadId: "t2" });
    expect(await drafts.get(draft.id)).toMatchObject({ forwardOf: null, attachments: [] });
    expect((await read({ threadId: "t1", forwardOf: "m1", subject: "Mine" })).subject).toBe("Mine");
  });

  test.each([
    [{ forwardOf: "m1" }, "forwardOf"],
    [{ forwardOf: "m1", threadId: "t2" }, "forwardOf"],
    [{ forwardOf: "none", threadId: "t1" }, "forwardOf"],
    [{ attachments: [] }, "attachments"],
    [{ to: "ada@x.example" }, "to"],
    [{ subject: "x".repeat(999) }, "subject"],
    [{ html: "x".repeat(1_000_001) }, "html"],
  ])("a draft is refused with invalid_parameter for %j", async (body, param) => {
    const { sandbox, send } = openDrafts();
    sandbox.emit("email.received", { messageId: "m1", threadId: "t1" });
    const answer = await send("POST /drafts", { body });
    expect([answer.status, answer.body["code"], answer.body["param"]]).toEqual([422, "invalid_parameter", param]);
    expect(sandbox.rows("drafts")).toEqual([]);
  });

  test("drafts are listed by their last change, and the last page may be empty", async () => {
    const { drafts, sandbox } = openDrafts();
    const ids: string[] = [];
    for (const subject of ["a", "b", "c", "d"]) {
      ids.push((await drafts.create({ subject })).id);
      await sandbox.advance(1_000);
    }
    const [a, b, c, d] = ids;
    await drafts.update(a ?? "", { subject: "again" });
    const walked = [];
    for await (const { id } of drafts.list({ limit: 2 })) walked.push(id);
    expect(walked).toEqual([a, d, c, b]);
    const first = await drafts.list({ limit: 2 });
    const second = await drafts.list({ limit: 2, pageToken: first.nextCursor ?? "" });
    expect(second).toMatchObject({ hasMore: true, nextCursor: expect.any(String) as string });
    const last = { items: [], hasMore: false, nextCursor: null };
    expect(await drafts.list({ limit: 2, pageToken: second.nextCursor ?? "" })).toEqual(last);
  });

  test("a search of drafts finds what was prepared for an event, and an empty subject as it is read", async () => {
    const { drafts, read } = openDrafts();
    const { id } = await drafts.create({ html: "<p>Hello</p><!-- --><p>ref evt_123</p>" });
    await drafts.create({ html: "ref evt_124", subject: "subject" });
    expect((await drafts.list({ query: '"evt_123"' })).items).toEqual([{ object: "draft", id }]);
    await drafts.update((await read({ subject: "s" })).id, { subject: "" });
    expect((await drafts.list({ query: 'subject:"(no subject)"' })).items).toHaveLength(2);
  });
});

describe("a search of drafts", () => {
  const NOW = Date.UTC(2026, 0, 31, 12);
  const DRAFT = {
    subject: "Your Ordér #1042",
    sender: "Support <support@acme.example.com>",
    body: "It is on its way, said the well-known courier.",
    savedAtMs: Date.UTC(2026, 0, 30, 8),
  };
  const searches = (text: string) => text.trim().split(/\s*\|\s*/);
  const FINDS = searches(`
    order | ORDER courier | wellknown | known | order - courier | "on its way" | "your order" | the order | the
    | subject:1042 | body:courier | from:acme | after:2026-01-30 | before:2026-01-31 | after:2026-02-31 |
    after:soon | before:2026-00-10 | before: order | subject: courier | to: | newer_than:2d | older_than:1d |
    older_than:x | in:inbox order | is:sent | on:its | subject:"your order"`);
  const MISSES = searches(`
    order nothing | son | "its on way" | subject:courier | subject:the | body:order | from:order | to:order |
    cc:x | bcc:order | after:2026-01-31 | before:2026/01/30 | newer_than:1d | older_than:2d | unknown:value`);
  test.each(["", ...FINDS])("the search %j of drafts finds the draft", (query) => {
    expect(readDraftSearch(query, NOW)(DRAFT)).toBe(true);
  });

  test.each(MISSES)("the search %j of drafts does not find the draft", (query) => {
    expect(readDraftSearch(query, NOW)(DRAFT)).toBe(false);
  });
});
