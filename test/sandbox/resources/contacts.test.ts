import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/error-of.js";
import { HOUR } from "../support.js";
import { KEYS, SUPPORT, openWorld } from "./support.js";

const ADA = "ada@customer.example.com";
const NEWS = "aud_news";

function openContacts(options: SandboxOptions = {}) {
  const world = openWorld({ contacts: [], audiences: [{ name: "News", id: NEWS }, { name: "Beta" }], ...options });
  const namesOf = (rows: { items: { email: string }[] }) => rows.items.map(({ email }) => email.split("@")[0]);
  return { ...world, contacts: world.client.contacts, namesOf };
}

describe("contacts", () => {
  test("a contact is saved under its address, trimmed and in lower case, and joins the default audience", async () => {
    const { contacts } = openContacts();
    const email = "  Ada@Customer.example.COM ";
    const saved = await contacts.create({ email, name: "Ada", audienceIds: [NEWS, NEWS] });
    expect(saved).toEqual({
      email: ADA,
      name: "Ada",
      source: "manual",
      notes: null,
      photoUrl: null,
      lastSeenAt: null,
      audiences: [
        { id: expect.stringMatching(/^aud_[0-9a-f]{24}$/) as string, name: "Everyone", builtin: "default" },
        { id: NEWS, name: "News", builtin: null },
      ],
    });
    expect(await contacts.get(" ADA@customer.example.com")).toEqual(saved);
    expect((await contacts.list()).items[0]).not.toHaveProperty("audiences");
  });

  test("an address is that of a contact with spaces around it and in any case, in every call", async () => {
    const { contacts, client, send, sandbox } = openContacts({ blocklist: [` ${ADA.toUpperCase()}`] });
    const written = "\t Ada@Customer.example.COM ";
    await contacts.create({ email: written });
    expect(await refusalOf(() => contacts.create({ email: ` ${ADA} ` }))).toMatchObject({ code: "contact_exists" });
    const event = { name: "order.shipped", email: written };
    expect(await client.contactEvents.send(event, { idempotencyKey: "k" })).toMatchObject({ email: ADA });
    const again = { ...event, email: ADA };
    expect(await client.contactEvents.send(again, { idempotencyKey: "k" })).toMatchObject({ replayed: true });
    expect(await client.contactEvents.sendBatch([event])).toMatchObject({ accepted: [{ email: ADA }], failed: [] });
    expect(await send("POST /events", { body: event })).toMatchObject({ status: 201, body: { email: ADA } });
    expect((await client.contactEvents.list(written)).items).toHaveLength(3);
    expect(sandbox.contactEvents.map(({ email }) => email)).toEqual([ADA, ADA, ADA]);
    expect((await contacts.people({ email: written, blocked: true })).items).toMatchObject([{ email: ADA }]);
    expect(await contacts.update(written, { name: "Ada" })).toMatchObject({ email: ADA });
    expect(await contacts.setAudiences(written, { audienceIds: [] })).toMatchObject({ email: ADA });
    expect(await contacts.deleteMany({ addresses: [written, ADA] })).toEqual({ deleted: [ADA], missing: [] });
  });

  test("a contact is changed in name and notes, and null clears them", async () => {
    const { contacts } = openContacts();
    await contacts.create({ email: ADA, name: "Ada", notes: "n" });
    expect(await contacts.update(ADA, { notes: "m" })).toMatchObject({ name: "Ada", notes: "m" });
    expect(await contacts.update(ADA, { name: null })).toMatchObject({ name: null, notes: "m" });
    expect(await contacts.update(ADA, {})).toMatchObject({ name: null, notes: "m" });
    for (const field of ["email", "source", "lastSeenAt"]) {
      expect(await refusalOf(() => contacts.update(ADA, { [field]: "x" }))).toMatchObject({ param: field });
    }
  });

  test("a contact that is deleted and created again is a new one, without notes, audiences and events", async () => {
    const { contacts, client } = openContacts();
    await contacts.create({ email: ADA, notes: "n", audienceIds: [NEWS] });
    await client.contactEvents.send({ name: "a", email: ADA });
    const tombstone = { object: "contact", email: ADA, deleted: true, wasSaved: true };
    expect(await contacts.delete(" Ada@customer.example.com")).toEqual(tombstone);
    expect(await contacts.delete(ADA)).toMatchObject({ wasSaved: false });
    expect(await contacts.create({ email: ADA })).toMatchObject({ notes: null, audiences: [{ builtin: "default" }] });
    expect((await client.contactEvents.list(ADA)).items).toEqual([]);
  });

  test("in the limits of audiences a repeated one counts once", async () => {
    const { contacts } = openContacts();
    await contacts.create({ email: ADA, audienceIds: Array.from({ length: 26 }, () => NEWS) });
    const set = await contacts.setAudiences(ADA, { audienceIds: Array.from({ length: 101 }, () => NEWS) });
    expect(set.audiences).toHaveLength(2);
    expect((await contacts.setAudiences(ADA, { audienceIds: [] })).audiences).toHaveLength(1);
    const audienceIds = Array.from({ length: 101 }, (_, index) => `aud_${index}`);
    const refused = await refusalOf(() => contacts.setAudiences(ADA, { audienceIds }));
    expect(refused).toMatchObject({ code: "invalid_parameter", param: "audienceIds" });
    const tooMany = audienceIds.slice(0, 26);
    const creation = await refusalOf(() => contacts.create({ email: "b@x.example", audienceIds: tooMany }));
    expect(creation).toMatchObject({ code: "invalid_parameter", param: "audienceIds" });
  });

  test("a creation with audiences needs the scope for them, and saves nothing without it", async () => {
    const { send, sandbox } = openContacts({ apiKeys: [{ token: KEYS.full, scopes: ["contacts:write"] }] });
    const { status } = await send("POST /contacts", { body: { email: ADA, audienceIds: [] } });
    expect([status, sandbox.rows("contacts")]).toEqual([403, []]);
    expect((await send("POST /contacts", { body: { email: ADA } })).status).toBe(201);
  });

  test("audiences of one name are two audiences, and two of one id are refused", async () => {
    const { contacts } = openContacts({ audiences: [{ name: "News" }, { name: "News" }] });
    const { contacts: others } = openContacts({ audiences: [{ name: "News", id: "aud_1" }, { name: "News" }] });
    await contacts.create({ email: ADA });
    await others.create({ email: ADA, audienceIds: ["aud_1"] });
    expect((await others.get(ADA)).audiences.map(({ name }) => name)).toEqual(["Everyone", "News"]);
    const sameIds = ["A", "B"].map((name) => ({ name, id: "aud_1" }));
    expect(() => openContacts({ audiences: sameIds })).toThrow(/audiences: two of them have the same id/);
  });

  test("a search finds names and addresses, whatever their case and accents, and its later pages do the same", async () => {
    const { contacts, namesOf } = openContacts();
    for (const [email, name] of [
      ["a1@x.example", "Zoë Ørsted"],
      ["a2@x.example", "Zoe Miller"],
      ["a3@x.example", "Zoie"],
      ["a4@x.example", null],
    ] as const) {
      await contacts.create({ email, name });
    }
    expect(namesOf(await contacts.list({ q: "ZOE" }))).toEqual(["a1", "a2"]);
    expect(namesOf(await contacts.list({ q: "a4@" }))).toEqual(["a4"]);
    const first = await contacts.list({ q: "zo", limit: 2 });
    expect(namesOf(first)).toEqual(["a1", "a2"]);
    expect(namesOf(await contacts.list({ q: "zo", cursor: first.nextCursor ?? "" }))).toEqual(["a3"]);
    expect(namesOf(await contacts.list({ q: "nothing like it" }))).toEqual([]);
  });

  test("people are contacts and the addresses seen in mail, but not deleted ones and the workspace's own", async () => {
    const { contacts, sandbox, clientOf, namesOf, send } = openContacts({ blocklist: ["spam.example"] });
    await contacts.create({ email: "ada@x.example", name: "Cora", notes: "vip" });
    for (const from of ["Bob B <Bob@x.example>", "gone@x.example", SUPPORT, "bob@x.example", "eve@spam.example"]) {
      sandbox.emit("email.received", { from, threadId: `t ${from}` });
      await sandbox.advance(HOUR);
    }
    await contacts.delete("gone@x.example");
    expect(namesOf(await contacts.people())).toEqual(["eve", "bob", "ada"]);
    expect(namesOf(await contacts.people({ sort: "name" }))).toEqual(["bob", "ada", "eve"]);
    expect(namesOf(await contacts.people({ sort: "threads" }))).toEqual(["bob", "eve", "ada"]);
    expect(namesOf(await contacts.people({ blocked: true }))).toEqual(["eve"]);
    expect(namesOf(await contacts.people({ q: "VIP" }))).toEqual(["ada"]);
    const one = await contacts.people({ email: "BOB@x.example" });
    expect(one).toMatchObject({ seen: true, items: [{ name: "Bob B", threads: 2, blockedBy: null }] });
    const { nextCursor } = await contacts.people({ sort: "name", limit: 2 });
    expect(namesOf(await contacts.people({ sort: "recent", cursor: nextCursor ?? "" }))).toEqual(["eve"]);
    sandbox.apiKeys.add({ token: "svc_live_unread", scopes: ["contacts:read"] });
    const unread = clientOf("svc_live_unread").contacts;
    const without = await unread.people();
    expect([namesOf(without), without.seen]).toEqual([["ada"], false]);
    for (const search of ["blocked=no", "sort=oldest", "sort=__proto__"]) {
      expect((await send(`GET /people?${search}`)).status, search).toBe(422);
    }
    expect((await send("GET /contacts?source=other")).body).toMatchObject({ param: "source" });
    sandbox.reset();
    expect(namesOf(await contacts.people())).toEqual([]);
  });

  test.each<[string, (world: ReturnType<typeof openContacts>) => unknown]>([
    ["the API", ({ contacts }) => contacts.create({ email: ADA })],
    ["an event", ({ client }) => client.contactEvents.send({ name: "a", email: ADA, createContact: true })],
    ["the sandbox", ({ sandbox }) => sandbox.contacts.addContact({ email: ADA })],
  ])(
    "a contact that is deleted and made again by %s is one of the people again, until it is deleted",
    async (_, make) => {
      const world = openContacts();
      const { contacts, namesOf } = world;
      await contacts.create({ email: ADA });
      await contacts.delete(ADA);
      expect(namesOf(await contacts.people())).toEqual([]);
      await make(world);
      expect(namesOf(await contacts.people())).toEqual(["ada"]);
      world.sandbox.emit("email.received", { from: ADA });
      await contacts.delete(ADA);
      expect(namesOf(await contacts.people())).toEqual([]);
    },
  );

  test("contacts are listed by their last mail, those without any last, also one that an event creates", async () => {
    const { contacts, client, sandbox, namesOf } = openContacts();
    await client.contactEvents.send({ name: "a", email: "new@x.example", createContact: true, contactName: "New" });
    expect(await contacts.get("new@x.example")).toMatchObject({ name: "New", source: "manual" });
    for (const name of ["old", "late"]) {
      await contacts.create({ email: `${name}@x.example` });
      const { event } = sandbox.emit("email.sent", { to: [`${name}@x.example`], threadId: "t" });
      await sandbox.advance(HOUR);
      expect(await contacts.get(`${name}@x.example`)).toMatchObject({ lastSeenAt: event.createdAt });
    }
    expect(namesOf(await contacts.list())).toEqual(["late", "old", "new"]);
    const page = await contacts.list({ limit: 1 });
    expect(namesOf(await contacts.list({ cursor: page.nextCursor ?? "" }))).toEqual(["old", "new"]);
  });
});
