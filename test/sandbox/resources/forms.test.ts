import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { errorOf, refusalOf } from "../../support/error-of.js";
import { verdict } from "../api/support.js";
import { collectEvents } from "../support.js";
import { KEYS, SUPPORT, openWorld } from "./support.js";

const EMAIL = "ada@customer.example.com";
const NEWS = "aud_news";
const DOUBLE = { doubleOptIn: true, senderAddress: SUPPORT, audienceIds: [NEWS] };

function openForms(options: SandboxOptions = {}) {
  const { receive, received: events } = collectEvents();
  const world = openWorld({ contacts: [], audiences: [{ name: "News", id: NEWS }], receive, ...options });
  const { sandbox, client } = world;
  const eventTypes = ["form.submitted", "form.confirmed"];
  sandbox.endpoints.create({ url: "http://127.0.0.1/", eventTypes });
  sandbox.endpoints.create({ url: "http://127.0.0.1/narrow", eventTypes, addressAllowlist: [SUPPORT] });
  const { forms, contacts } = client;
  const live = (settings = {}, starter = "newsletter") =>
    forms.create({ name: "News", starter, settings, publish: true });
  const fired = async () => {
    await sandbox.settle();
    return events.splice(0).map(({ type, data }) => `${type} ${String(data["outcome"])}`);
  };
  const sources = async () => {
    await sandbox.settle();
    return events.map(({ data }) => data["source"]);
  };
  return { ...world, forms, contacts, live, fired, sources };
}

describe("forms", () => {
  test("a form is a draft until it is published, and its changes are seen when they are", async () => {
    const { forms } = openForms();
    const made = await forms.create({ name: " News ", description: "d" });
    const draft = { status: "draft", publishedDocument: null, publishedAt: null, hasUnpublishedChanges: false };
    expect(made).toMatchObject({ name: "News", ...draft });
    expect(await forms.pause(made.id)).toMatchObject(draft);
    expect(made.document?.fields).toHaveLength(1);
    expect(Object.keys(made.document?.fields[0] ?? {})).toHaveLength(15);
    expect(await refusalOf(() => forms.subscribe(made.id, { email: EMAIL }))).toMatchObject({ code: "form_not_found" });
    const live = await forms.publish(made.id);
    expect(live).toMatchObject({ status: "live", hasUnpublishedChanges: false, publishedDocument: made.document });
    const { document } = await forms.starter("contact");
    expect(await forms.update(made.id, { document })).toMatchObject({
      status: "live",
      hasUnpublishedChanges: true,
      publishedDocument: made.document,
    });
    expect(await forms.publish(made.id)).toMatchObject({ hasUnpublishedChanges: false, publishedDocument: document });
    expect(await forms.pause(made.id)).toMatchObject({ status: "paused" });
    expect(await forms.copy(made.id, {})).toMatchObject({ ...draft, name: "News (copy)", document });
    expect((await forms.list()).items.map(({ name }) => name)).toEqual(["News (copy)", "News"]);
    expect(await forms.delete(made.id)).toEqual({ object: "form", id: made.id, deleted: true });
  });

  test("the starters are six forms, each of which can be created", async () => {
    const { forms } = openForms();
    const starters = await forms.starters();
    expect(starters.map(({ slug }) => slug).join(" ")).toBe("blank newsletter waitlist event early-access contact");
    for (const { slug } of starters) {
      const { document } = await forms.starter(slug);
      expect((await forms.create({ name: slug, starter: slug })).document).toEqual(document);
    }
    expect(await refusalOf(() => forms.create({ name: "a", starter: "none" }))).toMatchObject({ param: "starter" });
  });

  test("what is left out of a document is there when the form is read", async () => {
    const { forms } = openForms();
    const document = { fields: [{ key: "email", type: "email", required: true }], style: { color: "red" } };
    const made = await forms.create({ name: "News", document });
    const { id, document: changed } = await forms.update(made.id, { name: "New", document });
    expect([Object.keys(made.document?.fields[0] ?? {}).length, made.document?.copy]).toEqual([15, { title: "News" }]);
    expect(changed).toMatchObject({ ...document, copy: { title: "New" } });
    expect((await forms.get(id)).document).toEqual(changed);
  });

  test("a redirect to what is no URL is refused", async () => {
    const { send } = openForms();
    const settings = { successAction: "redirect", redirectUrl: "https://" };
    const answer = await send("POST /forms", { body: { name: "News", settings } });
    expect(verdict(answer)).toBe("422 invalid_parameter settings.redirectUrl");
  });

  test.each([
    [{ document: { fields: [] } }, "document.fields"],
    [{ document: { fields: [{ key: "mail", type: "email", required: true }] } }, "document.fields"],
    [{ document: { fields: [{ key: "email", type: "email", required: false }] } }, "document.fields"],
    [{ document: { fields: [{ key: "email", type: "email", required: true }, { key: "email" }] } }, "document.fields"],
    [{ settings: { doubleOptIn: true } }, "settings.senderAddress"],
    [{ settings: { successAction: "redirect" as const } }, "settings.redirectUrl"],
    [{ settings: { notifyAddresses: ["a@elsewhere.example"] } }, "settings.notifyAddresses"],
    [{ settings: { notifyAddresses: ["acme.example.com"] } }, "settings.notifyAddresses"],
  ])("a form with %j is refused with invalid_form, and nothing is created", async (body, param) => {
    const { forms, sandbox } = openForms();
    const refusal = { status: 422, code: "invalid_form", param };
    expect(await refusalOf(() => forms.create({ name: "a", ...body }))).toEqual(refusal);
    expect(sandbox.rows("forms")).toEqual([]);
  });

  test("double opt-in, a sender and a confirmation email need the scope to send", async () => {
    const { send } = openForms({ apiKeys: [{ token: KEYS.full, scopes: ["forms:write"] }] });
    const statusOf = async (settings: object) => (await send("POST /forms", { body: { name: "a", settings } })).status;
    expect(await statusOf({ successAction: "message" })).toBe(201);
    for (const settings of [DOUBLE, { senderAddress: SUPPORT }, { confirmSubject: "x" }]) {
      expect(await statusOf(settings)).toBe(403);
    }
  });

  test("the scope to send is needed for what changes, not for settings that are stored or switched off", async () => {
    const { send, live, clientOf } = openForms({
      apiKeys: [{ token: KEYS.full }, { token: KEYS.none, scopes: ["forms:read", "forms:write"] }],
    });
    const { id } = await live({ ...DOUBLE, confirmSubject: "Sure?" });
    const { settings } = await clientOf(KEYS.none).forms.get(id);
    const statusOf = async (changed: object) =>
      (await send(`PATCH /forms/${id}`, { key: "none", body: { settings: changed } })).status;
    expect(await statusOf(settings)).toBe(200);
    expect(await statusOf({ doubleOptIn: false, senderAddress: null, confirmSubject: "Sure?" })).toBe(200);
    for (const changed of [DOUBLE, { senderAddress: SUPPORT }, { confirmSubject: "Really?" }]) {
      expect(await statusOf(changed)).toBe(403);
    }
  });

  test("a key that is narrowed to other addresses may rename a form, but not add an address that it does not hold", async () => {
    const { send, live } = openForms();
    const other = "sales@acme.example.com";
    const { id } = await live({ ...DOUBLE, senderAddress: other });
    const statusOf = async (body: object) => (await send(`PATCH /forms/${id}`, { key: "narrow", body })).status;
    expect(await statusOf({ name: "News of May" })).toBe(200);
    expect(await statusOf({ settings: { senderAddress: other, audienceIds: [] } })).toBe(200);
    expect(await statusOf({ settings: { notifyAddresses: [SUPPORT, "else@acme.example.com"] } })).toBe(422);
  });

  test("an app of a member reaches only the forms that the member made", async () => {
    const { clientOf, live, forms } = openForms();
    const { id } = await live();
    const member = clientOf(KEYS.member).forms;
    const own = await member.create({ name: "own" });
    expect((await member.list()).items.map((form) => form.id)).toEqual([own.id]);
    expect(await refusalOf(() => member.get(id))).toMatchObject({ code: "form_not_found" });
    expect((await forms.list()).items).toHaveLength(2);
  });

  test("the designer drafts a form and changes a draft", async () => {
    const { forms, sandbox } = openForms({ limits: { aiActions: 2 } });
    const made = await forms.design({ brief: "Ask for the name too.", name: "Designed" });
    expect(made).toMatchObject({ name: "Designed", status: "draft", design: { notes: [expect.any(String)] } });
    const live = await forms.publish(made.id);
    await sandbox.advance(1_000);
    const changed = await forms.redesign(made.id, { instructions: "x", expectedUpdatedAt: live.updatedAt });
    expect(changed).toMatchObject({ status: "live", publishedDocument: live.publishedDocument });
    expect(changed.updatedAt > live.updatedAt).toBe(true);
    expect(await refusalOf(() => forms.design({ brief: "x" }))).toMatchObject({ code: "ai_quota_exceeded" });
    expect(sandbox.rows("forms")).toHaveLength(1);
  });

  test("a form is published at the time of its version, and one made live at the time of its creation", async () => {
    const { forms } = openForms();
    const made = await forms.create({ name: "News", publish: true });
    expect([made.publishedAt, made.updatedAt]).toEqual([made.createdAt, made.createdAt]);
    const again = await forms.publish(made.id);
    expect(again.updatedAt > made.updatedAt).toBe(true);
    expect(again.publishedAt).toBe(again.updatedAt);
  });

  test("a redesign of a published form, however it was made, is a change that is not published", async () => {
    const { forms, live } = openForms();
    const made = await live();
    const changed = await forms.redesign(made.id, { instructions: "x" });
    expect(changed).toMatchObject({ hasUnpublishedChanges: true, publishedDocument: made.document });
    await forms.publish(made.id);
    expect(await forms.redesign(made.id, { instructions: "x" })).toMatchObject({ hasUnpublishedChanges: true });
  });

  test("a document with the contents of the published one is no change", async () => {
    const { forms, live } = openForms();
    const { id, document } = await live();
    expect(await forms.update(id, { document: structuredClone(document ?? { fields: [] }) })).toMatchObject({
      hasUnpublishedChanges: false,
    });
  });

  test("a form that was saved in the millisecond of its version is in conflict with it", async () => {
    const { forms } = openForms();
    const { id, updatedAt } = await forms.create({ name: "News" });
    await forms.update(id, { name: "First", expectedUpdatedAt: updatedAt });
    const second = { name: "Second", expectedUpdatedAt: updatedAt };
    expect(await refusalOf(() => forms.update(id, second))).toMatchObject({ code: "version_conflict" });
    expect((await forms.get(id)).name).toBe("First");
  });
});

describe("a sign-up", () => {
  test("a sign-up without confirmation joins the audiences at once, and fires an event each time", async () => {
    const { forms, live, contacts, fired } = openForms();
    const redirectUrl = "https://a.example/thanks";
    const { id } = await live({ audienceIds: [NEWS], successAction: "redirect", redirectUrl });
    const answer = { object: "form_subscription", formId: id, outcome: "added", redirectUrl };
    expect(await forms.subscribe(id, { email: ` ${EMAIL.toUpperCase()}`, name: "Ada", unknown: 1 })).toEqual(answer);
    expect(await contacts.get(EMAIL)).toMatchObject({ name: "Ada", audiences: [{ builtin: "default" }, { id: NEWS }] });
    await forms.subscribe(id, { email: EMAIL, name: "Ada" });
    expect(await fired()).toEqual(["form.submitted added", "form.submitted added"]);
    expect((await forms.get(id)).stats).toMatchObject({ submissions: 2, added: 2, pending: 0 });
  });

  test("a sign-up that waits is replaced by the next one of the address, with an event if its answers differ", async () => {
    const { forms, live, contacts, fired, sandbox } = openForms();
    const { id } = await live(DOUBLE);
    await forms.subscribe(id, { email: "other@customer.example.com" });
    for (const name of ["Ada", "Ada", "Bob"]) await forms.subscribe(id, { email: EMAIL, name });
    expect(await fired()).toEqual(Array(3).fill("form.submitted pending"));
    expect((await forms.get(id)).stats).toMatchObject({ submissions: 2, added: 0, pending: 2 });
    expect([sandbox.confirmSignUp(id, EMAIL.toUpperCase()), sandbox.confirmSignUp(id, EMAIL)]).toEqual([true, false]);
    expect(await contacts.get(EMAIL)).toMatchObject({ name: "Bob", audiences: [{ builtin: "default" }, { id: NEWS }] });
    await forms.subscribe(id, { email: EMAIL, name: "Cy" });
    expect((await forms.get(id)).stats).toMatchObject({ submissions: 3, added: 1, pending: 2 });
    await forms.delete(id);
    expect(sandbox.confirmSignUp(id, EMAIL)).toBe(false);
  });

  test.each([
    [{ svc_source: "https://a.example/page?secret=1" }, {}, "https://a.example/page"],
    [{ svc_source: "https://a.example/page" }, { referer: "https://b.example/" }, "https://a.example/page"],
    [{}, { referer: "https://b.example/form?secret=1" }, "https://b.example/form"],
    [{}, { referer: "nonsense" }, null],
    [{}, {}, null],
  ])("a sign-up with %j and the headers %j has the page %j", async (given, headers, source) => {
    const { live, send, sources } = openForms();
    const { id } = await live();
    await send(`POST /subscribe/${id}`, { key: null, body: { email: EMAIL, ...given }, headers });
    expect(await sources()).toEqual([source]);
  });

  test.each([
    [{}, { email: "email" }],
    [{ email: "nobody" }, { email: "email" }],
    [
      { email: 5, name: 5 },
      { email: "email", name: "text" },
    ],
  ])("a sign-up with the answers %j is refused, and the error names the fields", async (answers, errors) => {
    const { forms, live, fired } = openForms();
    const { id } = await live();
    const error = await errorOf(() => forms.subscribe(id, answers as { email: string }));
    const fields = Object.entries(errors).map(([key, word]) => ({ key, error: word }));
    expect(error).toMatchObject({ status: 422, code: "invalid_form_submission", fields });
    expect(await fired()).toEqual([]);
  });

  test.each([
    ["waitlist", { size: "12" }, true],
    ["waitlist", { size: "many" }, false],
    ["waitlist", { size: "  " }, false],
    ["event", { meal: "vegan" }, true],
    ["event", { meal: "soup" }, false],
    ["early-access", { topics: ["product"] }, true],
    ["early-access", { topics: "product" }, false],
    ["contact", { message: "m", consent: true }, true],
    ["contact", { message: "m", consent: false }, false],
    ["contact", { message: "", consent: true }, false],
  ])("a sign-up to the form %s with %j is taken: %s", async (starter, answers, isTaken) => {
    const { forms, live } = openForms();
    const { id } = await live({}, starter);
    const got = await forms.subscribe(id, { email: EMAIL, ...answers }).then(
      ({ outcome }) => outcome,
      () => "refused",
    );
    expect(got).toBe(isTaken ? "added" : "refused");
  });

  test.each([[{ svc_website: "https://spam.example" }], [{ svc_started: "token" }]])(
    "a sign-up with %j gets a normal answer and is dropped",
    async (trap) => {
      const { forms, live, fired } = openForms();
      const { id } = await live();
      expect(await forms.subscribe(id, { email: EMAIL, ...trap })).toMatchObject({ outcome: "added" });
      expect([await fired(), (await forms.get(id)).stats?.submissions]).toEqual([[], 0]);
    },
  );

  test("sign-ups of another network address are counted apart", async () => {
    const { live, sandbox, send } = openForms();
    const path = `/subscribe/${(await live()).id}`;
    const { url } = await sandbox.listen();
    const inProcess = async () => (await send(`POST ${path}`, { key: null, body: {} })).status;
    for (let index = 0; index < 40; index += 1) await inProcess();
    const { status } = await fetch(url + path, { method: "POST", body: "{}" });
    expect([await inProcess(), status]).toEqual([429, 422]);
  });

  test("an address gets a confirmation email of a form once in ten minutes, and five a day", async () => {
    const { forms, live, sandbox } = openForms();
    const ids = [];
    for (let index = 0; index < 6; index += 1) ids.push((await live(DOUBLE)).id);
    for (let index = 0; index < 3; index += 1) await forms.subscribe(ids[0] ?? "", { email: EMAIL });
    const confirmed = async (id = "") => {
      await forms.subscribe(id, { email: EMAIL });
      return sandbox.confirmSignUp(id, EMAIL);
    };
    expect(await Promise.all(ids.map(confirmed))).toEqual([true, true, true, true, true, false]);
    await sandbox.advance("10m");
    expect(await confirmed(ids[5])).toBe(false);
    await sandbox.advance("24h");
    expect(await confirmed(ids[5])).toBe(true);
  });

  test("a sign-up over the limit is taken after the time in Retry-After", async () => {
    const { live, forms, sandbox } = openForms();
    const { id } = await live();
    for (let index = 0; index < 40; index += 1) {
      await forms.subscribe(id, { email: EMAIL });
      await sandbox.advance("1s");
    }
    const refused = await errorOf(() => forms.subscribe(id, { email: EMAIL }));
    expect(refused).toMatchObject({ code: "form_rate_limited", retryAfterMs: 561_000 });
    await sandbox.advance(561_000);
    expect(await forms.subscribe(id, { email: EMAIL })).toMatchObject({ outcome: "added" });
  });
});
