import { createClient } from "pigeonhole/client";
import type { Sandbox } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/error-of.js";
import { openSandbox } from "../support.js";

const ADA = "ada@customer.example.com";
const BOB = "bob@customer.example.com";

const clientOf = (sandbox: Sandbox, apiKey: string) =>
  createClient({ ...sandbox.clientOptions, apiKey, eventsPerMinute: 1_000_000 });

describe("callers made for a test", () => {
  test("a member keeps its role from one token to the next, and gets another by name", async () => {
    const sandbox = openSandbox({ members: [{ name: "ada", role: "Viewer" }] });
    const viewer = clientOf(sandbox, sandbox.callers.member({ name: "ada" }));
    await viewer.labels.list();
    await expect(viewer.labels.create({ name: "a" })).rejects.toMatchObject({ code: "insufficient_scope" });
    sandbox.callers.member({ name: "ada", role: "Admin" });
    expect(await viewer.labels.create({ name: "a" })).toMatchObject({ name: "a" });
  });

  test("another process makes them by the control API", async () => {
    const sandbox = openSandbox();
    const { url } = await sandbox.listen();
    const post = async (body: object): Promise<{ status: number; token?: string; code?: string }> => {
      const answer = await fetch(`${url}/sandbox/callers`, { method: "POST", body: JSON.stringify(body) });
      return { status: answer.status, ...((await answer.json()) as object) };
    };
    const { token = "" } = await post({ kind: "key", scopes: ["labels:read"], name: "Reader" });
    const reader = createClient({ apiKey: token, baseUrl: url });
    await reader.labels.list();
    await expect(reader.labels.create({ name: "a" })).rejects.toMatchObject({ code: "insufficient_scope" });
    const member = createClient({ apiKey: (await post({ kind: "member" })).token ?? "", baseUrl: url });
    await expect(member.chats.list()).rejects.toMatchObject({ code: "owner_only" });
    expect(await post({ kind: "boss" })).toMatchObject({ status: 422, code: "invalid_parameter" });
    expect(await post({ kind: "key", scope: [] })).toMatchObject({ status: 422, code: "invalid_option" });
    expect(await post({ kind: "key", name: 5 })).toMatchObject({ status: 422, code: "invalid_option" });
  });

  test.each<[what: string, make: (sandbox: Sandbox) => unknown, code: string]>([
    ["a misspelt option", ({ callers }) => callers.key({ scope: [] } as never), "invalid_option"],
    ["scopes that are no list", ({ callers }) => callers.owner({ scopes: "labels:read" } as never), "invalid_option"],
    ["scopes that are null", ({ callers }) => callers.owner({ scopes: null } as never), "invalid_option"],
    ["a scope that there is not", ({ callers }) => callers.key({ scopes: ["nope"] }), "invalid_option"],
    ["an address that is none", ({ callers }) => callers.key({ addressAllowlist: [""] }), "invalid_option"],
    [
      "a domain as an address",
      ({ callers }) => callers.key({ addressAllowlist: ["*@acme.example.com"] }),
      "invalid_option",
    ],
    ["a domain that is none", ({ callers }) => callers.member({ domainAllowlist: [""] }), "invalid_option"],
    ["a role that there is not", ({ callers }) => callers.member({ role: "Boss" }), "invalid_argument"],
    ["the owner's role for a member", ({ callers }) => callers.member({ role: "Owner" }), "invalid_argument"],
    ["a name that is empty", ({ callers }) => callers.key({ name: "" }), "invalid_option"],
    ["an expiry in no time", ({ callers }) => callers.key({ expiresInMinutes: 0 }), "invalid_option"],
  ])("%s is refused", async (_, make, code) => {
    expect(await refusalOf(() => make(openSandbox()))).toEqual({ code });
  });

  test("a token of an app is in no list of keys and in no log of them", async () => {
    const sandbox = openSandbox();
    const owner = clientOf(sandbox, sandbox.callers.owner());
    const before = (await owner.keys.list()).items.length;
    clientOf(sandbox, sandbox.callers.member());
    expect((await owner.keys.list()).items).toHaveLength(before);
    expect((await owner.keys.requests()).items).toEqual([]);
  });
});

describe("the app of a member", () => {
  function openTeam() {
    const sandbox = openSandbox({ contacts: [{ email: ADA }] });
    const grace = clientOf(sandbox, sandbox.callers.member({ name: "grace" }));
    const linus = clientOf(sandbox, sandbox.callers.member({ name: "linus" }));
    return { sandbox, grace, linus, owner: createClient(sandbox.clientOptions) };
  }

  test("the app of a member reads only contacts that this member added, and the owner reads all", async () => {
    const { grace, linus, owner } = openTeam();
    await grace.contacts.create({ email: BOB });
    const emails = async ({ contacts }: typeof owner) => (await contacts.list()).items.map(({ email }) => email);
    expect([await emails(grace), await emails(linus), await emails(owner)]).toEqual([[BOB], [], [ADA, BOB]]);
    expect((await linus.contacts.people()).items).toEqual([]);
    expect((await grace.contacts.people()).items).toMatchObject([{ email: BOB, saved: true }]);
    await expect(linus.contacts.get(BOB)).rejects.toMatchObject({ status: 404, code: "contact_not_found" });
    await expect(linus.contacts.create({ email: BOB })).rejects.toMatchObject({ code: "contact_exists" });
  });

  test("the app of a member deletes no contact of others", async () => {
    const { grace, owner } = openTeam();
    expect(await grace.contacts.delete(ADA)).toMatchObject({ wasSaved: false });
    expect(await grace.contacts.deleteMany({ addresses: [ADA] })).toMatchObject({ deleted: [], missing: [ADA] });
    expect(await owner.contacts.get(ADA)).toMatchObject({ email: ADA });
    expect((await owner.contacts.people()).items).toMatchObject([{ email: ADA }]);
  });

  test("the app of a member records events of contacts that this member added, also by an event", async () => {
    const { grace, linus, owner } = openTeam();
    const unknown = { status: 404, code: "contact_not_found" };
    const event = { name: "a", email: ADA, createContact: true };
    await expect(grace.contactEvents.send(event)).rejects.toMatchObject(unknown);
    const made = await grace.contactEvents.send({ name: "a", email: BOB, createContact: true });
    expect((await grace.contactEvents.list(made.contactId)).items).toHaveLength(1);
    await expect(linus.contactEvents.list(BOB)).rejects.toMatchObject(unknown);
    expect((await owner.contactEvents.list(BOB)).items).toHaveLength(1);
    expect(await grace.contacts.get(BOB)).toMatchObject({ email: BOB });
  });
});
