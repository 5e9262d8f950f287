import { dirname } from "node:path";
import { createDashboard, type DashboardOptions } from "pigeonhole/dashboard";
import type { Receiver } from "pigeonhole";
import { describe, expect, test } from "vitest";
import { PERSON_HEADER } from "#pigeonhole/web/api/session.js";
import type { ListedContactEvent } from "#pigeonhole/web/api/contact-events.js";
import type { ErrorGroupList } from "#pigeonhole/store/error-groups.js";
import type { ListedEvent, RowPage, UnveiledPayload, WholeEvent } from "#pigeonhole/web/api/event.js";
import type { BulkJob } from "#pigeonhole/store/bulk-jobs.js";
import type { RunCounts } from "#pigeonhole/store/inbox-operator.js";
import type { BulkJobList } from "#pigeonhole/dashboard/job-body.js";
import { PersonalData } from "#pigeonhole/web/personal-data.js";
import { HOUR } from "#pigeonhole/base/duration.js";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import { outboxView } from "../support/outbox-view.js";
import { fakeClock } from "pigeonhole/testing";
import { captureLog, makeEvent, openReceiver, post, tempFile, untilWork } from "../support/receiver.js";
import { type DashboardClient, HOST, OPERATOR, openDashboard } from "./dashboard-client.js";
import { fileStore } from "./file-store.js";

type Rule = "hidden" | "redacted" | "full";

/** The dashboard of a person who sees payloads by this rule. */
const seenBy = (receiver: Receiver, payloads?: Rule, rule?: Rule) =>
  openDashboard(receiver, { allow: () => ({ ...OPERATOR, payloads }), payloads: rule });

/** The text of a stream up to an event. */
async function streamed(dashboard: DashboardClient, until: string): Promise<string> {
  const { body } = await dashboard.fetch(new Request(`${HOST}/api/stream`));
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes(until)) break;
  }
  return text;
}

async function startReceiver(options: Parameters<typeof openReceiver>[0] = {}) {
  const receiver = openReceiver(options);
  receiver.on(
    "email.sent",
    () => {
      throw new Error("no luck with eve@example.net");
    },
    { retry: { maxAttempts: 1 } },
  );
  await receiver.start();
  return receiver;
}

describe("who is let in", () => {
  test("without allow nobody is, and the page says why", async () => {
    const receiver = await startReceiver();
    const dashboard = createDashboard(receiver);
    const answer = await dashboard.fetch(new Request(`${HOST}/`));
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("Give createDashboard the option allow");
    const api = await dashboard.fetch(new Request(`${HOST}/api/session`));
    expect(api.status).toBe(403);
    expect(await api.json()).toMatchObject({ code: "signed_out" });
  });

  test("an allow that never answers lets nobody in after ten seconds, and is logged", async () => {
    const clock = fakeClock(Date.now());
    const log = captureLog();
    const receiver = await startReceiver({ clock, logger: log.logger });
    const dashboard = openDashboard(receiver, { allow: () => new Promise(() => undefined) });
    const answers = Promise.all([dashboard.get("api/session"), dashboard.get("")]);
    let isAnswered = false;
    void answers.then(() => (isAnswered = true));
    await clock.advance(9_999);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    const [api, page] = await answers;
    expect(api).toMatchObject({ status: 503, body: { code: "not_identified" } });
    expect(page).toMatchObject({ status: 503, text: expect.stringContaining("Load the page again in a moment.") });
    expect(log.named("dashboard_allow_late")).toHaveLength(2);
  });

  test.each<[string, DashboardOptions<Request>["allow"], number]>([
    ["false", () => false, 403],
    ["nothing", () => undefined, 403],
    ["null, later", () => Promise.resolve(null), 403],
    [
      "a throw",
      () => {
        throw new Error("password hunter2");
      },
      500,
    ],
    ["a rejection", () => Promise.reject(new Error("password hunter2")), 500],
    ["no name", () => ({ role: "operate", name: "" }), 500],
    ["a long name", () => ({ role: "operate", name: "x".repeat(201) }), 500],
    ["a name with half a character", () => ({ role: "operate", name: "\ud83d" }), 500],
    ["another role", () => ({ role: "root", name: "ann" }) as never, 500],
    ["another rule for payloads", () => ({ ...OPERATOR, payloads: "all" }) as never, 500],
  ])("%s lets nobody in, without details", async (_, allow, status) => {
    const log = captureLog();
    const dashboard = openDashboard(await startReceiver({ logger: log.logger, logErrorMessages: false }), { allow });
    for (const path of ["", "api/session", "api/events", "assets/x.js"]) {
      const answer = await dashboard.get(path);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.text).not.toContain("hunter2");
    }
    expect((await dashboard.post("api/handlers/pause", { handler: "email.sent" })).status).toBe(status);
    const lines = [...log.named("dashboard_allow_failed"), ...log.named("dashboard_allow_answer_unusable")];
    expect(lines.length > 0).toBe(status === 500);
    expect(JSON.stringify(log.lines)).not.toContain("hunter2");
  });

  test("the log has the place of what allow throws, and with logErrorMessages its message", async () => {
    for (const logErrorMessages of [false, true]) {
      const log = captureLog();
      const receiver = await startReceiver({ logger: log.logger, logErrorMessages });
      const allow = () => Promise.reject(Object.assign(new TypeError("no session of ann"), { code: "E_MINE" }));
      const { status, text } = await openDashboard(receiver, { allow }).get("");
      expect([status, text]).toEqual([500, expect.stringContaining("Its log has the error")]);
      const [line] = log.named("dashboard_allow_failed");
      expect(line).toMatchObject({ error: "TypeError", code: "E_MINE" });
      expect(line?.["message"]).toBe(logErrorMessages ? "no session of ann" : undefined);
      expect(JSON.stringify(line?.["at"])).toContain("access.test.ts");
    }
  });

  test("who may only look cannot act", async () => {
    const receiver = await startReceiver();
    const event = makeEvent();
    await post(receiver, event);
    const dashboard = openDashboard(receiver, { allow: () => ({ role: "read", name: "bob" }) });
    expect((await dashboard.get("api/events")).status).toBe(200);
    for (const path of [
      `api/events/${event.id}/retry`,
      `api/events/${event.id}/discard`,
      "api/handlers/pause",
      "api/jobs",
      "api/jobs/1/pause",
      "api/outbox/retry",
    ]) {
      const answer = await dashboard.post(path);
      expect([path, answer.status, answer.body]).toMatchObject([path, 403, { code: "not_allowed" }]);
    }
  });
});

describe("actions", () => {
  const old = (origin: string) => ({ "sec-fetch-site": "none", host: "ops.example", origin });

  test.each<[string, Record<string, string>, number, string, string?]>([
    ["from another site", { "sec-fetch-site": "cross-site" }, 403, "foreign_origin"],
    ["from another host of the site", { "sec-fetch-site": "same-site" }, 403, "foreign_origin"],
    ["from another origin of an old browser", old("https://evil.example"), 403, "foreign_origin"],
    ["from an origin that is hidden", old("null"), 403, "foreign_origin"],
    ["that names no page", old(""), 403, "foreign_origin"],
    ["of a form", { "content-type": "text/plain" }, 415, "not_json"],
    ["without a person", { [PERSON_HEADER]: "" }, 403, "other_person"],
    ["that is no JSON", {}, 400, "not_json", "{"],
    ["that is a list", {}, 400, "invalid_parameter", "[]"],
    ["that is too large", {}, 413, "too_large", JSON.stringify({ x: "x".repeat(300_000) })],
  ])("an action %s is refused", async (_, headers, status, code, sent) => {
    const receiver = await startReceiver();
    const event = makeEvent();
    await post(receiver, event);
    const answer = await openDashboard(receiver).post(`api/events/${event.id}/discard`, sent, headers);
    expect(answer).toMatchObject({ status, body: { code } });
    expect((await receiver.inbox.get(event.id))?.handlers[0]?.state).not.toBe("discarded");
  });

  test("a path that no server would pass on is refused with what it may have", async () => {
    const receiver = await startReceiver();
    const open = (path: string) => () => openDashboard(receiver, { path });
    for (const path of ["/ops/web-hooks", "/a.b/~c", "/..."]) expect(open(path)).not.toThrow();
    expect(open("/")).toThrow(/path must not be "\/": leave it out/);
    for (const path of ["/ü", "/a b", "/a%20b", "/a/../b", "/.", "/a/..", "ops", "/ops/", ""])
      expect(open(path)).toThrow(/ASCII letters, digits and - \. _ ~, and neither \. nor \.\. alone/);
  });

  test("behind a proxy that changes the host, the page is known by the origin that the app names", async () => {
    const log = captureLog();
    const clock = fakeClock(Date.now());
    const receiver = await startReceiver({ logger: log.logger, clock });
    const plain = { "sec-fetch-site": "none", host: "10.0.0.7:8080", "x-forwarded-host": "evil.example" };
    const act = async (origin: string, own: string | undefined, site = plain["sec-fetch-site"]) => {
      const headers = { ...plain, origin, "sec-fetch-site": site };
      const dashboard = openDashboard(receiver, { origin: own, ...(own !== undefined && { hosts: [plain.host] }) });
      const { status, body } = await dashboard.post<{ message?: string }>("api/outbox/retry", { ids: [] }, headers);
      return { status, message: body.message };
    };
    expect(await act("http://ops.example", undefined)).toEqual({
      status: 403,
      message: expect.stringMatching(/^The page .* is not at the host .* give createDashboard the option origin: /),
    });
    const line = { level: 40, page: "http://ops.example", dashboard: plain.host };
    expect(log.named("dashboard_origin_refused")).toMatchObject([line]);
    expect(await act("http://ops.example", "http://ops.example")).toMatchObject({ status: 200 });
    for (const other of ["http://10.0.0.7:8080", "http://evil.example", "https://ops.example", "null", ""])
      expect([other, await act(other, "http://ops.example")]).toMatchObject([other, { status: 403 }]);
    expect(await act("http://evil.example", "http://ops.example")).toMatchObject({
      message: expect.stringContaining("not at the origin that createDashboard has as its option origin"),
    });
    expect(await act("", "http://ops.example")).toMatchObject({ message: expect.stringContaining("neither") });
    expect(await act("http://ops.example", "http://ops.example", "same-site")).toMatchObject({
      status: 403,
      message: "A page of another origin sent this action. Act on the dashboard's own page.",
    });
    for (const origin of ["ops.example", "http://ops.example/", "http://Ops.example", "file:///x"])
      expect(() => openDashboard(receiver, { origin })).toThrow(/origin must be an origin such as/);
  });

  test("a request for a host that neither origin nor hosts names is refused, without a login too", async () => {
    const log = captureLog();
    const receiver = await startReceiver({ logger: log.logger });
    const statusOf = async (options: DashboardOptions<Request>, host: string): Promise<number> =>
      (await openDashboard(receiver, options).get("api/session", { host })).status;
    for (const options of [
      { origin: HOST },
      { hosts: ["ops.example"] },
      { origin: "http://x.test", hosts: ["ops.example"] },
    ])
      expect([await statusOf(options, "Ops.example"), await statusOf(options, "evil.example")]).toEqual([200, 403]);
    expect(await statusOf({}, "evil.example")).toBe(200);
    const answer = await openDashboard(receiver, { hosts: ["localhost:3000"] }).get("");
    expect(answer.body).toMatchObject({ code: "foreign_host", message: expect.stringContaining("its option hosts") });
    expect(log.named("dashboard_origin_refused").at(-1)).toMatchObject({
      page: "ops.example",
      dashboard: "localhost:3000",
    });
    for (const hosts of [["https://ops.example"], ["OPS"], "ops.example"])
      expect(() => openDashboard(receiver, { hosts: hosts as string[] })).toThrow(/hosts must be a list of hosts/);
  });

  test("who only looks learns the name of the database's file and not its folder, also from errors and streams", async () => {
    const file = tempFile();
    const receiver = await startReceiver({ store: fileStore(file) });
    const texts = async (role: "read" | "operate"): Promise<string[]> => {
      const dashboard = openDashboard(receiver, { allow: () => ({ role, name: role }) });
      const answers = [await dashboard.get("api/session"), await dashboard.get("api/events/none")];
      return [...answers.map(({ text }) => text), await streamed(dashboard, "event: now")];
    };
    for (const text of await texts("read")) expect(text).not.toContain(dirname(file));
    const [session, missing] = await texts("operate");
    expect([session, missing]).toEqual([expect.stringContaining(file), expect.stringContaining(file)]);
  });

  test("what a page was loaded for one person is not done by another one", async () => {
    const dashboard = openDashboard(await startReceiver(), { allow: () => ({ role: "operate", name: "José, ops" }) });
    const act = (headers = {}) => dashboard.post("api/outbox/retry", { ids: [] }, headers);
    expect((await act()).status).toBe(200);
    for (const name of ["ann", "", "José, ops"])
      expect(await act({ [PERSON_HEADER]: name })).toMatchObject({ status: 403, body: { code: "other_person" } });
  });

  test("what the page reads cannot be read by pages of other sites", async () => {
    const dashboard = openDashboard(await startReceiver());
    for (const site of ["cross-site", "same-site"]) {
      const answer = await dashboard.get("api/events", { "sec-fetch-site": site });
      const message = "A page of another origin asked for this. Open the dashboard itself.";
      expect([site, answer]).toMatchObject([site, { status: 403, body: { code: "foreign_origin", message } }]);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

describe("every answer", () => {
  test.each(["", "api/session", "api/missing", "missing", "assets/missing.js"])(
    "the answer to %j can be framed, kept, guessed and loaded from elsewhere by nobody",
    async (path) => {
      const { headers } = await openDashboard(await startReceiver()).get(path);
      expect(headers.get("cache-control")).toContain("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
    },
  );
});

describe("payloads", () => {
  const PERSON = { name: "Eve Example", to: "eve@example.net" };

  const withEvent = async (payloads: Rule | undefined, own?: Rule) => {
    const log = captureLog();
    const receiver = await startReceiver({ logger: log.logger });
    const event = makeEvent({ data: PERSON });
    await post(receiver, event);
    await untilWork(receiver, event.id, { state: "dead" });
    return { log, event, dashboard: seenBy(receiver, own, payloads) };
  };

  test.each([
    ["hidden", undefined],
    ["redacted", undefined],
    [undefined, undefined],
    ["full", "hidden"],
  ] as const)("with %j, and %j for the person, nothing personal is shown anywhere", async (payloads, own) => {
    const { dashboard, event, log } = await withEvent(payloads, own);
    const at = `api/events/${event.id}`;
    for (const path of ["api/events", at, "api/errors"])
      expect((await dashboard.get(path)).text).not.toMatch(/eve@|Eve Example/);
    for (const kind of ["payload", "fixture", "capture"])
      expect((await dashboard.post(`${at}/${kind}`)).text).not.toMatch(/eve@|Eve Example/);
    const hidden = { status: 403, body: { code: "payload_hidden" } };
    expect(await dashboard.post(`${at}/payload`)).toMatchObject(hidden);
    expect(log.named("dashboard_action").filter(({ action }) => action === "unveil_payload")).toEqual([]);
    const found = await dashboard.get<{ items: unknown[] }>("api/events?text=eve@example.net");
    expect(found.body.items).toEqual([]);
  });

  test("large payloads are not redacted for a file, which takes the event loop", () => {
    const personal = new PersonalData(new Uint8Array(32));
    const body = Buffer.from(JSON.stringify({ type: "email.sent", data: { text: "a@b.example ".repeat(20_000) } }));
    const event = { id: "evt_1", type: "email.sent", receivedAt: "1970-01-01T00:00:00.000Z", body };
    expect(() => personal.shared(event)).toThrow("A payload of more than 64 KiB is not redacted");
    expect(() => personal.fixture(event, "redacted")).toThrow("A payload of more than 64 KiB is not redacted");
    expect(personal.fixture(event, "full").request.body.data).toContain("a@b.example");
  });

  test("a person who may see all unveils an event, which is logged", async () => {
    const { dashboard, event, log } = await withEvent("full");
    const { text } = await dashboard.get(`api/events/${event.id}`);
    expect(text).not.toContain("Eve Example");
    log.lines.length = 0;
    const unveiled = await dashboard.post<UnveiledPayload>(`api/events/${event.id}/payload`);
    expect(JSON.parse(unveiled.body.text)).toMatchObject({ data: PERSON });
    expect(log.named("dashboard_action")).toMatchObject([{ by: "ann", action: "unveil_payload", eventId: event.id }]);
  });

  test("a fixture is logged as what it is: exact for a person who may see all, redacted for others", async () => {
    for (const [rule, form] of [
      ["full", "exact"],
      ["redacted", "redacted"],
    ] as const) {
      const { dashboard, event, log } = await withEvent(rule);
      const { text } = await dashboard.post(`api/events/${event.id}/fixture`);
      expect([rule, text.includes("Eve Example")]).toEqual([rule, rule === "full"]);
      const line = { by: "ann", action: "save_fixture", eventId: event.id, form };
      expect(log.named("dashboard_action")).toContainEqual(expect.objectContaining(line));
    }
  });

  test('with "hidden" it is said why work is parked, where that quotes nothing', async () => {
    const receiver = await startReceiver();
    await post(receiver, makeEvent({ type: "contact.promoted", data: PERSON }));
    const dashboard = openDashboard(receiver, { payloads: "hidden" });
    const error = "This version does not know the event type, and no handler matches it.";
    const [event] = (await dashboard.get<RowPage<ListedEvent>>("api/events?state=parked")).body.items;
    expect(event?.handlers).toMatchObject([{ reason: "unknown_type", error }]);
    const { items } = (await dashboard.get<ErrorGroupList>("api/errors")).body;
    expect(items).toMatchObject([{ kind: "unknown_type", message: error }]);
  });

  test("who sees contacts and finds errors as they are is logged with the name, a page that reads again once", async () => {
    const paths = ({ id }: { id: string }): string[] =>
      `api/events api/outbox api/jobs api/outbox/key_1 api/events/${id} api/stream`.split(" ");
    for (const rule of ["full", "redacted"] as const) {
      const { dashboard, event, log } = await withEvent(rule);
      for (const path of paths(event)) void (await dashboard.fetch(new Request(`${HOST}/${path}`))).body?.cancel();
      for (const path of ["api/session", "api/overview", "api/errors", `api/events/${event.id}/deliveries`])
        await dashboard.get(path);
      const wanted = rule === "full" ? paths(event).map((path) => ["ann", "see_in_full", `/${path}`]) : [];
      const sights = () => log.named("dashboard_action").map(({ by, action, path }) => [by, action, path]);
      expect(sights()).toEqual(wanted);
      await dashboard.get("api/events");
      expect(sights()).toEqual(wanted);
    }
  });

  describe("errors that quote them", () => {
    const DATA = {
      name: "Ada Lovelace",
      from: "ada@secret.example.com",
      text: "The engine of Charles Babbage\nbroke.",
    };

    const withFailures = async () => {
      const receiver = openReceiver();
      const retry = { maxAttempts: 1 };
      const fail = ({ data }: { data: unknown }) => {
        const { name, from, text } = data as typeof DATA;
        const cause = new Error(`Cannot parse ${JSON.stringify(data)} of ${text}`);
        throw new TypeError(`no room for ${name.slice(0, 10)}… <${from}>`, { cause });
      };
      receiver.on("email.sent", fail, { retry });
      receiver.on("email.sent", () => Promise.reject(new Error("other")), { name: "other", retry });
      await receiver.start();
      const event = makeEvent({ data: DATA });
      await post(receiver, event);
      for (const name of ["email.sent", "other"]) await untilWork(receiver, event.id, { state: "dead" }, name);
      const as = (payloads: Rule) => seenBy(receiver, payloads);
      const count = async (payloads: Rule, query: string): Promise<number> =>
        (await as(payloads).get<{ items: unknown[] }>(`api/events?${query}`)).body.items.length;
      const groupIds = async (): Promise<string[]> => {
        const groups = await partsOf(receiver).options.store.openOperator(Date.now).listErrorGroups({ stepMs: HOUR });
        return groups?.items.map(({ id }) => id) ?? [];
      };
      return { receiver, event, as, count, groupIds };
    };

    test.each([
      ["hidden", "TypeError: [hidden]", "[hidden]", /ada@|secret\.example|Lovelace|Babbage|Ada L/i],
      ["redacted", "TypeError: no room for Ada Lovela… <[address]>", "Cannot parse {", /ada@|secret\.example/i],
      ["full", "TypeError: no room for Ada Lovela… <[address]>", "Cannot parse {", /ada@|secret\.example/i],
    ] as const)("with %j they show what the code wrote, without addresses", async (payloads, shown, cause, never) => {
      const { event, as } = await withFailures();
      const dashboard = as(payloads);
      for (const path of ["api/events", `api/events/${event.id}`, "api/errors"]) {
        const { text } = await dashboard.get(path);
        expect(text).toContain(shown);
        // Who may see all sees what events are about, as it is.
        expect(payloads === "full" ? text.replaceAll(/"subject":"[^"]*"/g, "") : text).not.toMatch(never);
      }
      const { body } = await dashboard.get<WholeEvent>(`api/events/${event.id}`);
      const { stack } = body.handlers[0]?.failed?.last ?? {};
      expect(stack).toMatch(/\n {4}at .*access\.test\.ts:\d+:\d+/);
      expect(stack).toContain(`Caused by: Error: ${cause}`);
    });

    test.each(["hidden", "redacted"] as const)("with %j they are searched as they are shown", async (payloads) => {
      const { count } = await withFailures();
      for (const sought of ["ada@secret.example.com", "no%20room%20for%20Ada"]) {
        const found = payloads === "redacted" && sought.startsWith("no") ? 1 : 0;
        expect(await count("full", `error=${sought}`)).toBe(1);
        expect(await count(payloads, `error=${sought}`)).toBe(found);
        expect(await count(payloads, `text=${sought}`)).toBe(found);
      }
      expect(await count(payloads, "error=typeerror")).toBe(1);
      expect(await count(payloads, "error=typeerror&handler=other")).toBe(0);
      expect(await count(payloads, "error=typeerror&state=parked")).toBe(0);
    });

    test.each(["hidden", "redacted"] as const)("with %j no job chooses by them", async (rule) => {
      const { as } = await withFailures();
      for (const path of ["api/jobs", "api/jobs/preview"]) {
        const refused = await as(rule).post(path, { action: "discard", filter: { error: "TypeError" } });
        expect(refused).toMatchObject({ status: 400, body: { param: "error" } });
      }
    });

    test("nor can a guess of one be checked with a group of errors", async () => {
      const { as, groupIds } = await withFailures();
      const groupsFor = async (payloads: Rule) =>
        (await as(payloads).get<ErrorGroupList>("api/errors")).body.items.map(({ id }) => id);
      const ids = await groupIds();
      const names = await groupsFor("hidden");
      // A link that one person copies opens for the others.
      for (const payloads of ["redacted", "full"] as const) expect(await groupsFor(payloads)).toEqual(names);
      const chosen = async (payloads: Rule, errorGroup: string) => {
        const list = await as(payloads).get<RowPage<ListedEvent>>(`api/events?errorGroup=${errorGroup}`);
        const asked = { action: "discard", filter: { errorGroup } };
        const preview = await as(payloads).post<RunCounts>("api/jobs/preview", asked);
        return [list.status, preview.status, list.body.items?.length, preview.body.work];
      };
      for (const [index, id] of ids.entries()) {
        const guess = JSON.parse(Buffer.from(id, "base64url").toString()) as [string, string, string];
        const readable = names.map((name) => Buffer.from(name.slice("group_".length), "base64url").toString());
        expect(readable.join("\n")).not.toContain(guess[2]);
        expect(await chosen("hidden", id)).toEqual([400, 400, undefined, undefined]);
        for (const group of [id, names[index] ?? ""]) expect(await chosen("full", group)).toEqual([200, 200, 1, 1]);
        expect(await chosen("hidden", names[index] ?? "")).toEqual([200, 200, 1, 1]);
      }
      const job = { action: "discard", filter: { errorGroup: ids[0] } };
      const filters = [
        (await as("full").post<BulkJob>("api/jobs", job)).body.filter,
        (await as("hidden").get<BulkJobList>("api/jobs")).body.jobs[0]?.filter,
      ];
      for (const filter of filters) expect(filter).toMatchObject({ errorGroup: "[hidden]" });
    });

    test("nor do the names of steps", async () => {
      const receiver = openReceiver();
      receiver.on("email.sent", async ({ data }, ctx) => {
        const { from } = data as unknown as typeof DATA;
        await ctx.step(`invite:${from} of Ada`, () => 1);
        throw new Error("later");
      });
      await receiver.start();
      const event = makeEvent({ data: DATA });
      await post(receiver, event);
      const stepsFor = async (payloads: Rule) =>
        (await seenBy(receiver, payloads).get<WholeEvent>(`api/events/${event.id}`)).body.handlers[0]?.steps;
      const at = expect.stringMatching(/^\d{4}-[-T:.\d]+Z$/) as string;
      const name = "invite:[address] of Ada";
      await expect.poll(() => stepsFor("full")).toEqual([{ name, at }]);
      expect(await stepsFor("redacted")).toEqual([{ name, at }]);
      expect(await stepsFor("hidden")).toEqual([{ name: "[hidden]", at }]);
    });

    test("a text that a job has chosen by is shown to those who see errors as they are", async () => {
      const { as, event } = await withFailures();
      const error = "ada@secret.example.com";
      await as("full").post("api/jobs", { action: "discard", filter: { error, ids: [event.id] } });
      for (const payloads of ["hidden", "redacted", "full"] as const) {
        const listed = (await as(payloads).get("api/jobs")).text;
        const text = listed + (await streamed(as(payloads), "event: jobs"));
        const shown = payloads === "full" ? error : "[hidden]";
        expect([...text.matchAll(/"error":"([^"]*)"/g)].map(([, said]) => said)).toEqual([shown, shown]);
        expect(listed).toContain('"chosen":1');
      }
    });

    test.each([
      ["hidden", "[hidden]", "FetchError: [hidden]", "events[0].email"],
      ["redacted", "city: Neverland is unknown", "FetchError: no [address]", "events[0][address]"],
      ["full", "city: Neverland is unknown", "FetchError: no [address]", "events[0][address]"],
    ] as const)("with %j, nor do those of contact events", (payloads, message, error, param) => {
      const view = outboxView({
        body: JSON.stringify({ name: "order_placed", email: "ada@secret.example.com" }),
        message: "city: Neverland is unknown",
        error: "FetchError: no ada@secret.example.com",
        param: "events[0].email=ada@secret.example.com",
      });
      const personal = new PersonalData(new Uint8Array(32));
      expect(personal.contactEvent(view, payloads)).toMatchObject({ message, error, param });
    });

    test("nor can a guess of one be checked with the key of a contact event", async () => {
      const receiver = openReceiver({ role: "accept", api: { apiKey: "k", baseUrl: "http://127.0.0.1:9" } });
      await receiver.start();
      const { key } = await receiver.contactEvents.record({ name: "order_placed", email: "ada@secret.example.com" });
      const as = (payloads: Rule) => seenBy(receiver, payloads);
      const names = new Set<string>();
      for (const payloads of ["hidden", "redacted"] as const) {
        const list = await as(payloads).get<RowPage<ListedContactEvent>>("api/outbox");
        expect(list.text).not.toContain(key);
        const [{ key: name, idempotencyKey } = { key: "", idempotencyKey: undefined }] = list.body.items;
        expect(idempotencyKey).toBeNull();
        names.add(name);
        expect((await as(payloads).get(`api/outbox?text=${key}`)).body).toMatchObject({ items: [] });
        expect(await as(payloads).get(`api/outbox/${name}`)).toMatchObject({ status: 200, body: { key: name } });
        for (const other of [key, `${name.slice(0, -2)}AA`, "row_", "row_AAAA", encodeURIComponent("row_\0/")])
          expect([other, (await as(payloads).get(`api/outbox/${other}`)).status]).toEqual([other, 404]);
        const changed = await as(payloads).post("api/outbox/discard", { ids: [key] });
        expect(changed.body).toEqual({ changed: 0, failed: 1, mayGoOut: 0 });
      }
      expect(names.size).toBe(1);
      const [name = ""] = names;
      // A link that one person copies opens for the others.
      const inFull = { key: name, idempotencyKey: key };
      expect((await as("full").get(`api/outbox?text=${key}`)).body).toMatchObject({ items: [inFull] });
      for (const shown of [key, name])
        expect(await as("full").get(`api/outbox/${shown}`)).toMatchObject({ status: 200, body: inFull });
      const discarded = await as("hidden").post("api/outbox/discard", { ids: [name] });
      expect(discarded.body).toEqual({ changed: 1, failed: 0, mayGoOut: 0 });
    });

    test.each([
      { email: "jane(o'connor)@secret.example" },
      { email: "Jane O'Connor" },
      { contactId: "Jane O'Connor <jane.o'connor@secret.example>" },
    ])("nor is anything left of the contact %j", async (contact) => {
      const body = JSON.stringify({ name: "order_placed", ...contact });
      const code = "jane.o'connor@secret.example";
      const view = outboxView({ state: "dead", body, contact: contact.email ?? contact.contactId ?? "", code });
      const personal = new PersonalData(new Uint8Array(32));
      for (const payloads of ["hidden", "redacted"] as const) {
        const event = personal.contactEvent(view, payloads);
        const texts = [event.contact, event.code, personal.contactEventBody(body, payloads)];
        expect(texts.join("\n")).not.toMatch(/jane|connor|secret/i);
      }
    });
  });
});
