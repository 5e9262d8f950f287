import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { errorOf } from "../../support/error-of.js";
import { START, collectEvents } from "../support.js";
import { BEFORE, MAKERS, exampleWorkspace } from "./operation-cases.js";
import { SUPPORT, openWorld, stateOf } from "./support.js";

const ADA = "ada@customer.example.com";
/** What changes a resource that its examples only read. */
const CHANGES: Readonly<Record<string, string>> = { sending: "sending.resume", contacts: "contacts.create" };
const NEWS = { id: "aud_news", name: "News" };

function openWorkspace(options: SandboxOptions = {}) {
  const fired: string[] = [];
  const world = openWorld({
    contacts: [],
    audiences: [NEWS],
    onLog: (entry) => {
      if (entry.kind === "event") fired.push(entry.type);
    },
    ...options,
  });
  return { ...world, fired };
}

describe("what an event is about is in the workspace", () => {
  test("a mail makes its sender one of the people and its attachments files, and can be forwarded and answered", async () => {
    const { sandbox, client } = openWorkspace();
    const { event } = sandbox.emit("email.received", { from: `Ada <${ADA}>`, to: [SUPPORT] });
    const { threadId, messageId, subject } = event.data as { threadId: string; messageId: string; subject: string };
    expect((await client.contacts.people()).items).toMatchObject([{ email: ADA, threads: 1, lastAt: event.createdAt }]);
    const [file] = (await client.files.list({ direction: "inbound", since: event.createdAt })).items;
    expect(file).toMatchObject({ threadId, messageId, deliveredTo: SUPPORT });
    expect((await (await client.files.content(file?.id ?? "")).bytes()).byteLength).toBe(file?.size);
    const forward = await client.drafts.get((await client.drafts.create({ threadId, forwardOf: messageId })).id);
    expect(forward).toMatchObject({ subject: `Fwd: ${subject}`, attachments: [{ filename: file?.filename }] });
  });

  test("a recipient that is written with a name is the workspace's address all the same", async () => {
    const { sandbox, client } = openWorkspace();
    const { id } = sandbox.endpoints.create({ url: "http://127.0.0.1:1/", addressAllowlist: [SUPPORT] });
    sandbox.emit("email.received", { to: ["Bob <bob@x.example>"], cc: [`Support <${SUPPORT}>`] });
    await sandbox.settle();
    expect((await client.files.list()).items).toMatchObject([{ deliveredTo: SUPPORT }]);
    expect(sandbox.deliveries({ endpointId: id })).toHaveLength(1);
  });

  test("a later event about a message leaves its files as they are", async () => {
    const { sandbox, client } = openWorkspace();
    const { data } = sandbox.emit("email.received", {}, { story: "one" }).event;
    for (const type of ["email.received", "email.replied", "email.opened"]) sandbox.emit(type, {}, { story: "one" });
    expect((await client.files.list()).items).toHaveLength(1);
    const { threadId, messageId } = data as { threadId: string; messageId: string };
    const { id } = await client.drafts.create({ threadId, forwardOf: messageId });
    expect((await client.drafts.get(id)).attachments).toHaveLength(1);
  });

  test("an uploaded file can be read under the id of its event, until an event deletes it", async () => {
    const { sandbox, client } = openWorkspace();
    const { data } = sandbox.emit("file.uploaded", { filename: "a.txt", size: 3 }).event;
    const { id } = data as { id: string };
    sandbox.emit("file.uploaded", { id });
    expect(await client.files.get(id)).toMatchObject({ id, filename: "a.txt", size: 3, deletable: true });
    expect(sandbox.rows("files")).toHaveLength(1);
    sandbox.emit("file.deleted", { id });
    expect(sandbox.rows("files")).toEqual([]);
  });

  test.each([
    ["form.confirmed", {}, true],
    ["form.submitted", { outcome: "added" }, true],
    ["form.submitted", { outcome: "pending" }, false],
  ])("someone of whom %s tells with %j is a contact in the form's audiences: %s", async (type, data, isSaved) => {
    const { sandbox, client } = openWorkspace();
    sandbox.emit(type, { ...data, email: ADA, answers: { name: "Ada" }, audienceIds: [NEWS.id, "aud_unknown"] });
    const { items } = await client.contacts.list();
    expect(items.map(({ name }) => name)).toEqual(isSaved ? ["Ada"] : []);
    if (isSaved)
      expect((await client.contacts.get(ADA)).audiences.map(({ name }) => name)).toEqual(["Everyone", "News"]);
  });

  test("an event whose data is not JSON changes nothing", async () => {
    const world = openWorkspace();
    const before = stateOf(world);
    const error = await errorOf(async () => world.sandbox.emit("email.received", { size: 5n }));
    expect([error.code, stateOf(world)]).toEqual(["invalid_argument", before]);
  });
});

describe("what the API does fires what is documented", () => {
  test("each uploaded and each deleted file, and each new sign-up, fires one event", async () => {
    const { client, sandbox, fired } = openWorkspace();
    const { files, forms } = client;
    const kept: string[] = [];
    for (const filename of ["a", "b", "c"]) kept.push((await files.upload(new Uint8Array(1), { filename })).id);
    const [a = "", b = "", c = ""] = kept;
    await files.createLink(a, {});
    await files.deleteMany({ ids: [a, b, b, "file_none"] });
    await files.revokeLinks(a);
    await files.delete(c);
    expect(fired).toEqual(["file.uploaded", "file.uploaded", "file.uploaded", "file.deleted", "file.deleted"]);

    fired.length = 0;
    const settings = { doubleOptIn: true, senderAddress: SUPPORT };
    const form = await forms.create({ name: "a", settings, publish: true });
    await forms.subscribe(form.id, { email: ADA });
    await forms.subscribe(form.id, { email: ADA });
    expect(fired).toEqual(["form.submitted"]);
    sandbox.confirmSignUp(form.id, ADA);
    expect(fired).toEqual(["form.submitted", "form.confirmed"]);
  });

  test("an event of a sign-up has the data of the sign-up alone, as it was when it was fired", async () => {
    const { receive, received } = collectEvents();
    const { client, sandbox } = openWorkspace({ receive });
    await client.webhooks.create({ url: "http://127.0.0.1/", eventTypes: ["form.submitted", "form.confirmed"] });
    const settings = { doubleOptIn: true, senderAddress: SUPPORT, audienceIds: [NEWS.id] };
    const form = await client.forms.create({ name: "News", settings, publish: true });
    await client.forms.subscribe(form.id, { email: ADA });
    sandbox.confirmSignUp(form.id, ADA);
    await sandbox.settle();
    const at = new Date(START).toISOString();
    const data = {
      formId: form.id,
      formName: "News",
      email: ADA,
      answers: { email: ADA },
      audienceIds: [NEWS.id],
      doubleOptIn: true,
      source: null,
      submittedAt: at,
    };
    expect(received.map(({ type, data: sent }) => [type, sent])).toEqual([
      ["form.submitted", { ...data, outcome: "pending" }],
      ["form.confirmed", { ...data, outcome: "added", confirmedAt: at }],
    ]);
  });
});

test("a reset brings every resource back to what the options say, and ends every caller made since", async () => {
  const mailServers = [{ domain: "mailbox.example.net", connected: ["ada@mailbox.example.net"] }];
  const world = openWorld({ ...exampleWorkspace(), mailServers, members: [{ name: "ada", role: "Viewer" }] });
  const { sandbox, client, called } = world;
  const before = structuredClone(stateOf(world)) as Record<string, unknown>;
  const tokens = [sandbox.callers.owner(), sandbox.callers.member({ name: "ada", role: "Admin" })];
  tokens.push(sandbox.callers.key(), (await client.keys.create({ name: "Orders" })).token);
  for (const [name, make] of Object.entries(MAKERS)) {
    const ids = await make(client);
    await BEFORE[CHANGES[name] ?? ""]?.(client, ids, sandbox);
    if (name === "chats") await client.chats.delete(ids["id"] ?? "");
  }
  await client.contactEvents.send({ name: "a", email: "new@x.example", createContact: true });
  sandbox.setMailServer({ domain: "mailbox.example.net", reachable: false });
  const changed = stateOf(world) as Record<string, unknown>;
  const same = Object.keys(before).filter((name) => JSON.stringify(changed[name]) === JSON.stringify(before[name]));
  // No call changes the reports of the record checks.
  expect(same).toEqual(["tools"]);
  sandbox.reset();
  // Connected again, so under another id.
  const mailboxes = [expect.objectContaining({ email: "ada@mailbox.example.net", status: "active" })];
  expect(stateOf(world)).toEqual({ ...before, mailboxes });
  for (const token of tokens) expect(await called("GET /labels", undefined, token)).toBe("401 unauthorized");
  await MAKERS.mailboxes(client);
});

test("the rows of something that is no resource are refused", () => {
  expect(() => openWorld().sandbox.rows("nothing" as "labels")).toThrow(/has rows of .*labels/);
});
