import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/error-of.js";
import { SECOND, START, collectEvents } from "../support.js";
import { KEYS, SUPPORT, openWorld } from "./support.js";

const BILLING = "billing@acme.example.com";
const bytesOf = (text: string) => new TextEncoder().encode(text);

function openFiles(options: SandboxOptions = {}) {
  const world = openWorld(options);
  const { files } = world.client;
  const upload = (filename: string, text = "x", contentType = "text/plain") =>
    files.upload(bytesOf(text), { filename }, { contentType });
  const namesOf = ({ items }: { items: { filename: string | null }[] }) => items.map(({ filename }) => filename);
  return { ...world, files, narrow: world.clientOf(KEYS.narrow).files, upload, namesOf };
}

describe("files", () => {
  test("an uploaded file has its name, type and size, and its bytes come back", async () => {
    const { files, upload } = openFiles();
    const made = await upload("über uns.txt", "hello");
    expect(made).toEqual({
      id: expect.stringMatching(/^file_[0-9a-f]{24}$/) as string,
      direction: "uploaded",
      usage: null,
      deletable: true,
      deliveredTo: null,
      filename: "über uns.txt",
      contentType: "text/plain",
      size: 5,
      threadId: null,
      messageId: null,
      createdAt: new Date(START).toISOString(),
    });
    expect(await files.get(made.id)).toEqual(made);
    const content = await files.content(made.id);
    expect(content).toMatchObject({ contentType: "text/plain", filename: "über uns.txt", sizeBytes: 5 });
    expect(new TextDecoder().decode(await content.bytes())).toBe("hello");
  });

  test.each([
    ["a/b\\c:d*.txt", "a_b_c_d_.txt"],
    [" a.txt ", "a.txt"],
    [`${"x".repeat(300)}.tar.gz`, `${"x".repeat(252)}.gz`],
    ["a\u0000b", "a_b"],
  ])("the name %j of a file is cleaned", async (given, expected) => {
    const { upload } = openFiles();
    expect((await upload(given)).filename?.replace(/x{252,}(?:\.tar)?\.gz/, `${"x".repeat(252)}.gz`)).toBe(expected);
  });

  test.each([
    ["cut in a character", `${"x".repeat(250)}\u{1F4C4}.txt`, `${"x".repeat(250)}\ufffd.txt`],
    ["with half a character", "\ud83d.txt", "\ufffd.txt"],
  ])("a file with a name %s can be downloaded and linked", async (_, filename, expected) => {
    const { files, sandbox } = openFiles();
    sandbox.emit("email.received", { to: [SUPPORT], attachments: [{ filename, size: 3 }] });
    const [file] = (await files.list()).items;
    expect(file?.filename).toBe(expected);
    expect(await files.content(file?.id ?? "")).toMatchObject({ filename: expected, sizeBytes: 3 });
    expect((await files.createLink(file?.id ?? "", {})).url).toContain(encodeURIComponent(expected));
  });

  test("an attachment with a content type that no header can hold can be downloaded", async () => {
    const { files, sandbox } = openFiles();
    const contentType = "text/plain; name=\u{1F4C4}";
    sandbox.emit("email.received", { to: [SUPPORT], attachments: [{ filename: "a.txt", contentType }] });
    const [file] = (await files.list()).items;
    expect(await files.content(file?.id ?? "")).toMatchObject({ contentType: "application/octet-stream" });
  });

  test.each([
    ["image/png", "image/png"],
    ["text/plain; charset=utf-8", "text/plain; charset=utf-8"],
    ["nonsense", "application/octet-stream"],
  ])("the content type %s of a file is stored as %s", async (given, expected) => {
    const { upload } = openFiles();
    expect((await upload("a", "x", given)).contentType).toBe(expected);
  });

  test("uploading and deleting a file fires its events, to endpoints that name them", async () => {
    const { receive, received } = collectEvents();
    const { files, upload, sandbox } = openFiles({ receive });
    sandbox.endpoints.create({ url: "http://127.0.0.1/", eventTypes: ["file.uploaded", "file.deleted"] });
    sandbox.endpoints.create({ url: "http://127.0.0.1/default" });
    const made = await upload("a.txt");
    await files.delete(made.id);
    await sandbox.settle();
    expect(received.map(({ type, data }) => [type, data])).toEqual([
      ["file.uploaded", made],
      ["file.deleted", made],
    ]);
  });

  test("a file that something depends on is kept, and a batch says why", async () => {
    const { files, upload, sandbox } = openFiles();
    const [linked, free] = [await upload("linked.txt"), await upload("free.txt")];
    const link = await files.createLink(linked.id, {});
    sandbox.emit("email.received", { attachments: [{ filename: "in.pdf", contentType: "application/pdf", size: 7 }] });
    const [inbound] = (await files.list({ direction: "inbound" })).items;
    expect((await refusalOf(() => files.delete(linked.id))).code).toBe("file_in_use");
    const none = `file_${"0".repeat(24)}`;
    const ids = [free.id, linked.id, inbound?.id ?? "", none, "nonsense", free.id];
    expect(await files.deleteMany({ ids })).toEqual({
      deleted: [free.id],
      kept: [
        { id: linked.id, usage: "linked", reason: "It has a working link." },
        { id: inbound?.id, usage: "received", reason: "It arrived on a message." },
      ],
      missing: [none, "nonsense"],
    });
    await files.revokeLink(linked.id, link.id);
    expect(await files.get(linked.id)).toMatchObject({ usage: null, deletable: true });
    expect(await files.delete(linked.id)).toEqual({ object: "file", id: linked.id, deleted: true });
    expect(await refusalOf(() => files.content(linked.id))).toMatchObject({ code: "resource_not_found" });
  });

  test("in a batch of files to delete a repeated id counts once", async () => {
    const { files, upload } = openFiles();
    const { id } = await upload("a.txt");
    expect(await files.deleteMany({ ids: Array.from({ length: 101 }, () => id) })).toMatchObject({ deleted: [id] });
    const ids = Array.from({ length: 101 }, (_, index) => `file_${index}`);
    expect(await refusalOf(() => files.deleteMany({ ids }))).toMatchObject({ param: "ids" });
  });

  test("the attachments of an event are files, with the address they arrived at and as many bytes as it says", async () => {
    const { files, sandbox } = openFiles();
    sandbox.emit("email.received", {
      to: [SUPPORT],
      threadId: "t1",
      messageId: "m1",
      attachments: [{ filename: "../a.pdf", contentType: "application/pdf", size: 48_213 }],
    });
    const [file] = (await files.list({ address: SUPPORT.toUpperCase() })).items;
    const about = { deliveredTo: SUPPORT, filename: ".._a.pdf", threadId: "t1", messageId: "m1" };
    expect(file).toMatchObject({ direction: "inbound", usage: "received", deletable: false, ...about });
    expect(await (await files.content(file?.id ?? "")).bytes()).toHaveLength(48_213);
  });

  test("an attachment of a message to several addresses has arrived at the first one of the workspace", async () => {
    const { sandbox, files } = openFiles();
    const attachments = [{ filename: "a.txt" }];
    sandbox.emit("email.received", { to: ["ada@customer.example.com", BILLING], cc: [SUPPORT], attachments });
    expect((await files.list()).items).toMatchObject([{ deliveredTo: BILLING }]);
  });

  test.each<[string, unknown, object[]]>([
    ["null", [null], []],
    ["a text", ["a.txt"], []],
    ["no list", "a.txt", []],
    ["a name, a type and a size of other types", [{ filename: 5, contentType: {}, size: "x" }], [{ size: 0 }]],
    ["a size below zero", [{ filename: "a.txt", size: -1 }], [{ filename: "a.txt", size: 0 }]],
  ])(
    "attachments with %s are read as far as they can be, for files and for drafts",
    async (_, attachments, expected) => {
      const { sandbox, files, send } = openFiles();
      sandbox.emit("email.received", { to: [SUPPORT], threadId: "t1", messageId: "m1", attachments });
      expect((await files.list()).items).toMatchObject(expected);
      const body = { threadId: "t1", forwardOf: "m1" };
      const { id } = (await send("POST /drafts", { body })).body as { id: string };
      expect((await send(`GET /drafts/${id}`)).body["attachments"]).toHaveLength(expected.length);
    },
  );

  test("a narrowed key sees files of its addresses only, and uploads to the first of them", async () => {
    const { narrow, upload, sandbox, namesOf, files } = openFiles();
    const whole = await upload("whole.txt");
    for (const to of [SUPPORT, BILLING])
      sandbox.emit("email.received", { to: [to], attachments: [{ filename: `${to}.txt` }] });
    const own = await narrow.upload(bytesOf("x"), { filename: "own.txt" });
    expect(own.deliveredTo).toBe(SUPPORT);
    expect(namesOf(await narrow.list({ sort: "name" }))).toEqual(["own.txt", `${SUPPORT}.txt`]);
    expect(await refusalOf(() => narrow.get(whole.id))).toMatchObject({ code: "resource_not_found" });
    expect(await narrow.deleteMany({ ids: [whole.id] })).toMatchObject({ deleted: [], missing: [whole.id] });
    expect((await narrow.stats()).files).toBe(2);
    const foreign = await files.list({ limit: 1 });
    const cursor = foreign.nextCursor ?? "";
    expect((await refusalOf(() => narrow.list({ cursor }))).code).toBe("invalid_cursor");
  });

  test("a list of files is filtered, searched and sorted, and a cursor keeps its order", async () => {
    const { files, sandbox, upload, namesOf } = openFiles();
    for (const [name, text, type] of [
      ["b.txt", "12", "text/plain"],
      ["C.png", "1", "image/png"],
      ["a.pdf", "123", "application/pdf"],
    ] as const) {
      await upload(name, text, type);
      await sandbox.advance(SECOND);
    }
    const iso = (seconds: number) => new Date(START + seconds * SECOND).toISOString();
    const listed = async (query: Parameters<typeof files.list>[0]) => namesOf(await files.list(query)).join(" ");
    expect(await listed({})).toBe("a.pdf C.png b.txt");
    expect(await listed({ sort: "oldest" })).toBe("b.txt C.png a.pdf");
    expect(await listed({ sort: "largest" })).toBe("a.pdf b.txt C.png");
    expect(await listed({ sort: "name" })).toBe("a.pdf b.txt C.png");
    expect(await listed({ kind: "image" })).toBe("C.png");
    expect(await listed({ kind: "pdf", direction: "uploaded" })).toBe("a.pdf");
    expect(await listed({ direction: "outbound" })).toBe("");
    expect(await listed({ since: iso(1), until: iso(2) })).toBe("C.png");
    expect(await listed({ q: "PNG" })).toBe("C.png");
    expect(await listed({ q: "image" })).toBe("C.png");
    const first = await files.list({ sort: "name", limit: 1 });
    expect(await listed({ sort: "newest", cursor: first.nextCursor ?? "" })).toBe("b.txt C.png");
    for (const query of [{ kind: "word" }, { direction: "up" }, { sort: "size" }]) {
      expect(await refusalOf(() => files.list(query))).toMatchObject({ param: Object.keys(query)[0] });
    }
  });

  test.each([
    ["price list", "price-list.pdf"],
    ["PRICE-LIST", "price-list.pdf"],
    ["PRICELIST", "price-list.pdf"],
    ["pdf list", "price-list.pdf"],
    ["ice", ""],
    ["gone", ""],
    ["söng", "song.mp3"],
  ])("a search of files for %j finds %j", async (q, expected) => {
    const { files, upload, namesOf } = openFiles();
    await upload("price-list.pdf", "x", "application/pdf");
    await upload("song.mp3", "x", "audio/mpeg");
    expect(namesOf(await files.list({ q })).join(" ")).toBe(expected);
  });

  test("links to a file are listed newest first, and are revoked once, or all together", async () => {
    const { files, upload, narrow, send } = openFiles();
    const { id } = await upload("a b.txt");
    const [one, two] = [await files.createLink(id), await files.createLink(id, { domain: "ACME.example.com" })];
    const three = (await send(`POST /files/${id}/links`)).body as { id: string };
    expect(two).toMatchObject({ url: `https://files.acme.example.com/${two.id}/a%20b.txt`, revokedAt: null });
    expect((await files.links(id)).items.map((link) => link.id)).toEqual([three.id, two.id, one.id]);
    const revoked = await files.revokeLink(id, two.id);
    expect(revoked.revokedAt).toBe(new Date(START).toISOString());
    expect(await files.revokeLink(id, two.id)).toEqual(revoked);
    expect((await files.stats()).links).toEqual({ working: 2, fetches: 0 });
    expect(await files.revokeLinks(id)).toEqual({ revoked: 2 });
    expect(await files.revokeLinks(id)).toEqual({ revoked: 0 });
    const other = await upload("other.txt");
    expect(await refusalOf(() => files.revokeLink(other.id, one.id))).toMatchObject({ status: 404 });
    expect(await refusalOf(() => narrow.createLink(id, {}))).toMatchObject({ status: 404 });
  });

  test("a link is on the files host of the domain, else of the file's address, else on the address of the API", async () => {
    const { files, upload, sandbox } = openFiles({ domains: ["acme.example.com", "b.example"] });
    for (const to of [SUPPORT, "x@other.example"])
      sandbox.emit("email.received", { to: [to], attachments: [{ filename: `${to}.txt` }] });
    const ids = [...(await files.list({ sort: "name" })).items.map(({ id }) => id), (await upload("a.txt")).id];
    const hostsOf = async (body: { domain?: string }) =>
      Promise.all(ids.map(async (id) => new URL((await files.createLink(id, body)).url ?? "").host));
    const byAddress = ["files.acme.example.com", "localhost", "localhost"];
    expect(await hostsOf({})).toEqual(byAddress);
    expect(await hostsOf({ domain: "other.example" })).toEqual(byAddress);
    expect(await hostsOf({ domain: "B.example" })).toEqual(ids.map(() => "files.b.example"));
  });

  test("a link on the address of the API gives the file to anyone, and is counted, until it is revoked", async () => {
    const { files, upload, sandbox } = openFiles();
    await sandbox.listen();
    const { id } = await upload("a b.txt", "hello");
    const { url, id: linkId } = await files.createLink(id);
    const answer = await fetch(url ?? "");
    expect([answer.headers.get("content-type"), await answer.text()]).toEqual(["text/plain", "hello"]);
    await sandbox.advance("1m");
    await sandbox.fetch(url ?? "");
    const lastFetchedAt = new Date(START + 60 * SECOND).toISOString();
    expect((await files.links(id)).items).toMatchObject([{ fetchCount: 2, lastFetchedAt }]);
    expect((await files.stats()).links).toEqual({ working: 1, fetches: 2 });
    await files.revokeLink(id, linkId);
    expect([(await fetch(url ?? "")).status, (await files.stats()).links]).toEqual([404, { working: 0, fetches: 0 }]);
  });

  test("statistics count what there is, by direction, type, address and day", async () => {
    const { files, upload, sandbox } = openFiles();
    await upload("a.txt", "12345");
    const attachments = [{ filename: "b.pdf", contentType: "application/pdf", size: 10 }];
    sandbox.emit("email.received", { to: [SUPPORT], attachments });
    const stats = await files.stats();
    expect(stats).toMatchObject({
      files: 2,
      bytes: 15,
      received: { files: 1, bytes: 10 },
      sent: { files: 0, bytes: 0 },
      uploaded: { files: 1, bytes: 5 },
      types: [
        { contentType: "application/pdf", files: 1, bytes: 10 },
        { contentType: "text/plain", files: 1, bytes: 5 },
      ],
      addresses: [{ address: SUPPORT, files: 1, bytes: 10 }],
    });
    expect(stats.days).toHaveLength(30);
    expect(stats.days.at(-1)).toEqual({ date: "2026-01-01", files: 2 });
  });

  test("uploads are refused above the cap on all bytes, and taken again when some are deleted", async () => {
    const { files, upload, sandbox } = openFiles({ limits: { maxFileBytes: 10 } });
    const { id } = await upload("a", "12345678");
    expect(await refusalOf(() => upload("b", "123"))).toMatchObject({ code: "workspace_limit_reached" });
    await upload("b", "12");
    await files.delete(id);
    expect((await upload("c", "12345678")).size).toBe(8);
    sandbox.reset();
    expect((await upload("d", "1234567890")).size).toBe(10);
  });
});
