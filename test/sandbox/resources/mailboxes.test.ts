import { type SandboxOptions, createSandbox } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { errorOf, refusalOf } from "../../support/error-of.js";
import { MINUTE, START } from "../support.js";
import { KEYS, openWorld } from "./support.js";
import type { MailServerInput } from "#pigeonhole/sandbox/resources/mail-servers.js";

const iso = (ms: number) => new Date(ms).toISOString();

const ADA = "ada@shop.example";
const PASSWORD = "abcd efgh";
const SERVER: MailServerInput = { domain: "shop.example", password: PASSWORD };
const IMAP = { host: "imap.shop.example", port: 993, security: "tls" } as const;
const SMTP = { host: "smtp.shop.example", port: 465, security: "tls" } as const;

function openMailboxes(options: SandboxOptions = {}) {
  const world = openWorld({ mailServers: [SERVER], ...options });
  const { mailboxes } = world.client;
  const connect = (input: object = {}) => mailboxes.connect({ email: ADA, password: PASSWORD, ...input });
  return { ...world, mailboxes, connect };
}

describe("discovery", () => {
  test("a discovery finds the servers of an address by the table, and stores nothing", async () => {
    const { mailboxes, sandbox } = openMailboxes({
      mailServers: [SERVER, { domain: "big.example", provider: "big", signIn: "app-password", smtp: "none" }],
    });
    const found = { object: "mailbox_discovery", email: ADA, provider: "other", signIn: "password" };
    expect(await mailboxes.discover({ email: "Ada@SHOP.example" })).toEqual({ ...found, imap: IMAP, smtp: SMTP });
    const big = { provider: "big", signIn: "app-password", imap: { host: "imap.big.example" }, smtp: null };
    expect(await mailboxes.discover({ email: "a@big.example" })).toMatchObject(big);
    expect(await mailboxes.discover({ email: "a@unknown.example" })).toMatchObject({ provider: null, imap: null });
    expect(sandbox.rows("mailboxes")).toEqual([]);
  });

  test("a person may look up so many addresses an hour", async () => {
    const { mailboxes, sandbox, clientOf } = openMailboxes();
    const look = () => mailboxes.discover({ email: ADA });
    for (let count = 0; count < 59; count += 1) await look();
    await sandbox.advance("20m");
    await look();
    expect(await refusalOf(look)).toMatchObject({ status: 429, code: "mailbox_checks_limited" });
    expect(await clientOf(KEYS.member).mailboxes.discover({ email: ADA })).toMatchObject({ email: ADA });
    await sandbox.advance("40m");
    await look();
  });
});

describe("connection", () => {
  test("a connected mailbox is active, and its address is one of the workspace's", async () => {
    const { client, clientOf, mailboxes, connect, sandbox } = openMailboxes();
    const made = await connect({ label: "Ada", importHistory: true });
    expect(made).toEqual({
      id: expect.stringMatching(/^cmb_[0-9a-f]{24}$/) as string,
      addressId: expect.stringMatching(/^adr_/) as string,
      status: "active",
    });
    const mailbox = await mailboxes.get(made.id);
    expect(mailbox).toEqual({
      ...made,
      email: ADA,
      label: "Ada",
      provider: "other",
      method: "password",
      pauseReason: null,
      lastError: null,
      lastSyncedAt: null,
      createdAt: iso(START),
      connectedBy: "@owner",
      username: ADA,
      imap: IMAP,
      smtp: SMTP,
      historyImportId: expect.stringMatching(/^imp_/) as string,
    });
    expect(await mailboxes.list()).toEqual([mailbox]);
    await client.signatures.create({ address: ADA, name: "Work", html: "<p>Ada</p>" });
    await client.webhooks.create({ url: "http://127.0.0.1:9/", addressAllowlist: [ADA] });
    const ofKeys = clientOf(sandbox.callers.key({ scopes: ["keys:manage"] }));
    const key = { name: "Ada", scopes: ["keys:manage"], addressAllowlist: [ADA] };
    expect(await ofKeys.keys.create(key)).toMatchObject({ addressAllowlist: [ADA] });
    const draft = await client.drafts.create({ from: ADA });
    expect((await client.drafts.get(draft.id)).from).toBe(ADA);
    const settings = { doubleOptIn: true, senderAddress: ADA };
    expect((await refusalOf(() => client.forms.create({ name: "a", settings }))).code).toBe("form_sender_refused");
    await client.forms.create({ name: "News", settings: { notifyAddresses: [ADA] } });
    await mailboxes.disconnect(made.id);
    expect((await client.drafts.get(draft.id)).from).toBeNull();
    expect(await refusalOf(() => mailboxes.disconnect(made.id))).toMatchObject({ status: 404 });
  });

  test("mailboxes are listed newest first, and a member is named as who connected one", async () => {
    const { mailboxes, clientOf } = openMailboxes({ mailServers: [{ domain: "shop.example" }] });
    await mailboxes.connect({ email: "a@shop.example", password: "x" });
    await clientOf(KEYS.member).mailboxes.connect({ email: "b@shop.example", password: "y" });
    const listed = await mailboxes.list();
    expect(listed.map(({ email, connectedBy }) => [email, connectedBy])).toEqual([
      ["b@shop.example", "@grace"],
      ["a@shop.example", "@owner"],
    ]);
  });

  test("servers that are given are used, with the documented ports unless others are named", async () => {
    const { connect, mailboxes } = openMailboxes();
    const { id } = await connect({ username: "ada", host: "in.example", port: 143, smtpHost: "out.example" });
    expect(await mailboxes.get(id)).toMatchObject({
      username: "ada",
      imap: { host: "in.example", port: 143, security: "starttls" },
      smtp: { host: "out.example", port: 465, security: "tls" },
    });
  });

  test.each<[string, object]>([
    ["port", { host: "in.example", port: 995 }],
    ["port", { host: "in.example", port: 993, security: "starttls" }],
    ["smtpPort", { smtpPort: 465 }],
    ["port", { security: "tls" }],
  ])("a server with another %s than a documented one, or without a host, is refused: %j", async (param, given) => {
    const { connect } = openMailboxes();
    expect(await refusalOf(() => connect(given))).toMatchObject({ status: 422, param });
  });

  test("a connection to servers that do not answer is refused, and nothing is added", async () => {
    const { connect, sandbox } = openMailboxes({ mailServers: [{ ...SERVER, reachable: false }] });
    expect((await refusalOf(connect)).code).toBe("mailbox_login_failed");
    expect(sandbox.rows("mailboxes")).toEqual([]);
  });

  test("a mailbox is connected once, whatever the case, and again after it was disconnected", async () => {
    const { connect, mailboxes } = openMailboxes();
    const { id } = await connect();
    const again = await refusalOf(() => connect({ email: ADA.toUpperCase() }));
    expect(again.code).toBe("connected_mailbox_already_connected");
    await mailboxes.disconnect(id);
    expect((await connect()).id).not.toBe(id);
  });

  test("a person has 10 sign-ins an hour, over connections and new passwords, failed ones too", async () => {
    const { connect, mailboxes, sandbox, clientOf } = openMailboxes();
    const { id } = await connect();
    const wrong = () => mailboxes.update(id, { password: "wrong" });
    for (let count = 1; count < 10; count += 1) {
      expect((await refusalOf(wrong)).code).toBe("mailbox_login_failed");
    }
    expect(await refusalOf(wrong)).toMatchObject({ status: 429, code: "mailbox_checks_limited" });
    expect((await refusalOf(() => connect({ email: "b@shop.example" }))).code).toBe("mailbox_checks_limited");
    const ofMember = clientOf(KEYS.member).mailboxes;
    expect(await ofMember.update(id, { password: PASSWORD })).toMatchObject({ status: "active" });
    await sandbox.advance("1h");
    expect((await refusalOf(wrong)).code).toBe("mailbox_login_failed");
  });

  test("a password is in no row, no log and no error", async () => {
    const logged: unknown[] = [];
    const { connect, sandbox, mailboxes } = openMailboxes({ onLog: (entry) => void logged.push(entry) });
    const { id } = await connect();
    const error = await errorOf(() => mailboxes.update(id, { password: "another secret" }));
    const texts = JSON.stringify([sandbox.rows("mailboxes"), logged, error, error.message, error.stack]);
    expect(texts).not.toMatch(/abcd efgh|another secret/);
  });
});

describe("states", () => {
  test("a mailbox is paused by a person and resumed, and is not synced meanwhile", async () => {
    const { connect, mailboxes, sandbox } = openMailboxes();
    const { id } = await connect({ label: "Ada" });
    const paused = { id, status: "paused", pauseReason: "by-person", label: "Ada" };
    expect(await mailboxes.update(id, { paused: true })).toEqual(paused);
    expect(await mailboxes.update(id, { paused: true })).toEqual(paused);
    await mailboxes.sync(id);
    expect(await mailboxes.get(id)).toMatchObject({ status: "paused", lastSyncedAt: null });
    expect(await mailboxes.update(id, { password: PASSWORD })).toEqual(paused);
    const active = { id, status: "active", pauseReason: null, label: null };
    expect(await mailboxes.update(id, { paused: false, label: null })).toEqual(active);
    expect(await mailboxes.update(id, { paused: false })).toEqual(active);
    await sandbox.advance("1m");
    await mailboxes.sync(id);
    expect(await mailboxes.get(id)).toMatchObject({ lastSyncedAt: iso(START + MINUTE) });
  });

  test("a password that the provider no longer accepts needs a sign-in, until both servers accept a new one", async () => {
    const { connect, mailboxes, sandbox } = openMailboxes();
    const { id } = await connect();
    sandbox.setMailServer({ ...SERVER, password: "new" });
    const waiting = { status: "needs-sign-in", pauseReason: "sign-in", lastSyncedAt: null };
    expect(await mailboxes.get(id)).toMatchObject({ ...waiting, lastError: expect.any(String) as string });
    for (const paused of [true, false]) {
      expect(await refusalOf(() => mailboxes.update(id, { paused }))).toMatchObject({ status: 422, param: "paused" });
    }
    expect((await refusalOf(() => mailboxes.update(id, { password: PASSWORD }))).code).toBe("mailbox_login_failed");
    await mailboxes.sync(id);
    expect(await mailboxes.get(id)).toMatchObject(waiting);
    expect(await mailboxes.update(id, { password: "new" })).toMatchObject({ status: "active", pauseReason: null });
    expect(await mailboxes.get(id)).toMatchObject({ status: "active", lastError: null });
  });

  test("a mailbox whose servers do not answer is failing, until they do", async () => {
    const { connect, mailboxes, sandbox } = openMailboxes();
    const { id } = await connect();
    sandbox.setMailServer({ ...SERVER, reachable: false });
    const lastError = expect.any(String) as string;
    const failing = { status: "failing", pauseReason: "unreachable", lastError, lastSyncedAt: null };
    expect(await mailboxes.get(id)).toMatchObject(failing);
    await mailboxes.sync(id);
    expect(await mailboxes.get(id)).toMatchObject(failing);
    sandbox.setMailServer(SERVER);
    expect(await mailboxes.get(id)).toMatchObject({ status: "active", pauseReason: null, lastError: null });
  });

  test("a sync that is asked for answers with the mailbox as it was, and moves lastSyncedAt", async () => {
    const { connect, mailboxes, sandbox } = openMailboxes();
    const { id } = await connect();
    await sandbox.advance("6m");
    const before = await mailboxes.get(id);
    expect(await mailboxes.sync(id)).toEqual(before);
    expect(await mailboxes.get(id)).toEqual({ ...before, lastSyncedAt: iso(START + 6 * MINUTE) });
  });

  test("a mailbox of a vendor's sign-in is there from the beginning", async () => {
    const email = "ada@vendor.example";
    const mailServers = [{ domain: "vendor.example", signIn: "vendor" as const, connected: [email] }];
    const { mailboxes } = openMailboxes({ mailServers });
    const [mailbox] = await mailboxes.list();
    expect(mailbox).toMatchObject({ email, method: "vendor", status: "active" });
  });
});

describe("the table of mail servers", () => {
  test.each<object>([
    { domain: "localhost" },
    { domain: "a.example", imap: "imap.a.example" },
    { domain: "a.example", smtp: { host: "a", port: "465", security: "tls" } },
    { domain: "a.example", conected: [] },
    { domain: "a.example", password: 5 },
    { domain: "a.example", connected: ["ann@b.example"] },
    { domain: "a.example", connected: ["a.example"] },
    { domain: "a.example", connected: [5] },
  ])("an entry that cannot be is refused: %j", async (entry) => {
    expect((await errorOf(() => createSandbox({ mailServers: [entry as never] }))).code).toBe("invalid_option");
    const { sandbox } = openMailboxes();
    expect((await errorOf(() => sandbox.setMailServer(entry as never))).code).toBe("invalid_option");
  });
});
