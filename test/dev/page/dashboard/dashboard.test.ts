import { EVENT_STATES } from "#pigeonhole/store/state-words.js";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { DoNotRetry, type Handler, type Receiver } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { createSandbox } from "pigeonhole/sandbox";
import { inboxIdOf } from "#pigeonhole/protocol/inbox-id.js";
import { sampleEvent } from "pigeonhole/testing";
import type { Locator } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { DAY, HOUR } from "#pigeonhole/base/duration.js";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import { seeText } from "../browser.js";
import { describeDashboard } from "./dashboard-bench.js";
import { reportRun, writeExampleFigures } from "./example-figures.js";
import { writeRuns } from "../../../support/ended-runs.js";
import { makeGate } from "../../../support/gate.js";
import { jobRow } from "../../../support/job-row.js";
import { untilWork } from "../../../support/receiver.js";
import { newEvent } from "../../../store/conformance/new-event.js";

describeDashboard("the dashboard's page", true, ({ bench, page, problems, restart, openAt, show, go, confirm }) => {
  const rowsOf = (table: string) => page.getByRole("table", { name: table }).locator("tbody tr");
  const contactEvent = () => page.getByRole("region", { name: "Contact event", exact: true });
  const line = () => page.getByRole("region", { name: "Time line" });
  const wordsOf = async (part: Locator) => (await part.innerText()).replaceAll(/\s+/g, " ");
  const openContactEvent = () =>
    page.getByRole("table", { name: "Contact events" }).getByRole("button").first().click();
  const button = (name: string | RegExp) => page.getByRole("button", { name });

  test("a history is seen, paused and resumed", async () => {
    const scoring = makeGate();
    await restart({
      register: (receiver) => receiver.on("form.submitted", () => scoring.passed, { name: "score@2", concurrency: 1 }),
    });
    const { store } = partsOf(bench.receiver).options;
    for (const id of ["old_1", "old_2", "old_3", "old_4"]) {
      const times = { receivedAt: Date.now(), signedAt: Date.now() };
      const body = Buffer.from(JSON.stringify({ ...sampleEvent("form.submitted"), id }));
      await store.accept({ id, type: "form.submitted", test: false, body, ...times, work: [] });
    }
    await bench.receiver.inbox.plan({ handler: "score@2" });
    await show("#/work");
    const jobs = page.getByRole("region", { name: "Jobs" });
    await seeText(jobs, /^Giving history to score@2\s+2 of 4 · app/);
    await jobs.getByRole("button", { name: "Pause" }).click();
    await seeText(jobs, /^Giving history to score@2: paused\s+2 of 4 · app/);
    scoring.open();
    for (const id of ["old_1", "old_2"]) await untilWork(bench.receiver, id, { state: "done" }, "score@2");
    expect(await jobs.innerText()).toContain("2 of 4");
    await jobs.getByRole("button", { name: "Resume" }).click();
    await seeText(jobs, /^Gave history to score@2\s+4 of 4 · app/);
    expect(problems()).toEqual([]);
  });

  test("chosen events are discarded, and the list narrows by what the address says", async () => {
    const [first, second] = [await bench.deliver("email.bounced"), await bench.deliver("email.bounced")];
    await bench.deliver("email.complained");
    await show("#/work?state=dead&handler=crm");
    const rows = rowsOf("Events");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("checkbox", { name: `Choose ${first}` }).check();
    const previewed = page.waitForRequest("**/api/jobs/preview");
    await button("Discard (1)").click();
    // No other work of the event than the list shows.
    const filter = { state: "dead", handler: "crm", ids: [first] };
    expect((await previewed).postDataJSON()).toEqual({ action: "discard", filter });
    expect(await button("Run now (1)").count()).toBe(0);
    await confirm("Discard");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await rows.innerText()).toContain(second);
    await page.getByRole("searchbox", { name: /^Search/ }).fill("nothing like that");
    await page.getByText("Nothing matches").waitFor();
    expect(await button(/dead/).innerText()).not.toMatch(/\d/);
    await button("Show all").click();
    await button(/dead/).filter({ hasText: /\d/ }).waitFor();
    await button(/^retrying/).click();
    await seeText(rows, /email\.complained[^]*TypeError: the ledger is closed/);
  });

  test("who sees no errors as they are chooses a handler too before events of a text of errors are changed", async () => {
    await restart({ payloads: "redacted" });
    const id = await bench.deliver("email.bounced");
    await show("#/work?error=customer");
    const bar = page.getByRole("toolbar", { name: "Chosen events" });
    const choose = () => page.getByRole("checkbox", { name: `Choose ${id}` }).check();
    await choose();
    await bar.getByText("Choose a handler too: other work of these events may have failed otherwise.").waitFor();
    expect(await bar.getByRole("button").count()).toBe(1);
    await go("#/work?error=customer&handler=crm");
    await choose();
    const previewed = page.waitForRequest("**/api/jobs/preview");
    await bar.getByRole("button", { name: "Discard (1)" }).click();
    expect((await previewed).postDataJSON()).toEqual({ action: "discard", filter: { handler: "crm", ids: [id] } });
  });

  test("actions on chosen events say how many they can change, and that at most 500 can be chosen", async () => {
    const dead = await bench.deliver("email.bounced");
    await bench.deliver("email.complained");
    await show("#/work");
    await page.getByRole("checkbox", { name: "Choose all events" }).check();
    for (const name of ["Retry (1)", "Run now (1)"]) await button(name).waitFor();
    const previewed = page.waitForRequest("**/api/jobs/preview");
    await button("Discard (1)").click();
    expect((await previewed).postDataJSON()).toEqual({ action: "discard", filter: { ids: [dead] } });
    await confirm("Cancel");
    const { items } = (await (await page.request.get(`${bench.url}api/events?state=dead`)).json()) as {
      items: object[];
    };
    const many = Array.from({ length: 501 }, (_, at) => ({ ...items[0], id: `evt_${at}` }));
    await page.route("**/api/events?*", (route) => route.fulfill({ json: { items: many, nextCursor: null } }));
    await button(/^dead/).click();
    await page.getByRole("checkbox", { name: "Choose all events" }).check();
    const bar = page.getByRole("toolbar", { name: "Chosen events" });
    await bar.getByText("At most 500 can be changed at once. Choose fewer, or choose none and").waitFor();
    expect(await bar.getByRole("button").count()).toBe(1);
    await page.getByRole("checkbox", { name: "Choose evt_7", exact: true }).uncheck();
    await bar.getByRole("button", { name: "Retry (500)" }).waitFor();
    // The headers stay at the top of the list, and a phone keeps the box for all rows.
    const [list, all] = [page.locator(".dash-list"), page.getByRole("checkbox", { name: "Choose all events" })];
    await list.evaluate((scrolled) => scrolled.scrollTo(0, 2_000));
    const header = page.getByRole("columnheader", { name: "Type" });
    expect((await header.boundingBox())?.y).toBe((await list.boundingBox())?.y);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await all.isVisible()).toBe(true);
    expect(problems()).toEqual([]);
  });

  test("filters name what they select, with the words of the rows, which say what else an event has", async () => {
    await restart({
      payloads: "full",
      register: (receiver) =>
        void receiver.on("email.complained", () => Promise.reject(new DoNotRetry("no")), { name: "crm 2" }),
    });
    const id = await bench.deliver("email.complained");
    await bench.deliver("email.bounced");
    await show("#/work");
    const states = page.getByRole("group", { name: "State" }).getByRole("button");
    const names = async () => (await states.allInnerTexts()).map((text) => text.replace(/\s*\d*$/, ""));
    await expect.poll(names).toEqual(["all", ...EVENT_STATES]);
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: id }) });
    const word = () => wordsOf(row.locator(".state-column"));
    await expect.poll(word).toBe("dead");
    await button(/^retrying/).click();
    expect(page.url()).toContain("state=retrying");
    await expect.poll(word).toMatch(/^dead retrying 1 of \d+ next /);
    expect(await row.innerText()).toContain("ledger: TypeError: the ledger is closed");
    await page.getByRole("searchbox", { name: /^Search/ }).fill("nothing like that");
    await page.getByText("Nothing matches").waitFor();
    await button("Errors").click();
    const group = page.getByRole("listitem").filter({ hasText: "the ledger is closed" });
    await seeText(group, /1\s+retrying/);
    await page.getByRole("combobox", { name: "State" }).selectOption({ label: "retrying" });
    await group.waitFor();
    await expect.poll(() => page.locator(".group").count()).toBe(1);
  });

  test("a change of all that match looks back from the click, as the list does from its last load", async () => {
    await bench.deliver("email.bounced");
    await show("#/work?state=dead&span=1h");
    await button("Retry all…").waitFor();
    await page.evaluate("Date.now = ((now) => () => now() + 60_000)(Date.now)");
    const previewed = page.waitForRequest("**/api/jobs/preview");
    await button("Retry all…").click();
    const { filter } = (await previewed).postDataJSON() as { filter: { since: string } };
    expect(Date.parse(filter.since)).toBeGreaterThan(Date.now() - HOUR + 30_000);
  });

  test("a handler is paused with a banner for everybody, its work is not offered to run, and it is resumed there", async () => {
    const waiting = await bench.deliver("email.complained");
    await show("#/work?show=handlers");
    await button("Pause ledger").click();
    await confirm("Pause");
    const banner = page.getByRole("status").filter({ hasText: "is paused" });
    await seeText(banner, /Handler ledger is paused since \S+ by ann; 1 piece of work waits/);
    await go(`#/event?id=${waiting}`);
    await page.getByText(/^ledger is paused by ann: its next run, due at \S+, waits until it is resumed/).waitFor();
    await button("Discard").waitFor();
    await expect.poll(() => button("Run now").count()).toBe(0);
    await go("#/work");
    await page.getByRole("checkbox", { name: "Choose all events" }).check();
    await page.getByText("1 chosen").waitFor();
    await expect.poll(() => button(/Run now/).count()).toBe(0);
    await banner.getByRole("button", { name: "Resume" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => banner.count()).toBe(0);
    // The button that had the focus is gone.
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).not.toBe("BODY");
  });

  test("times of runs are said by the end of their range, and a handler whose runs fail is red", async () => {
    const { store } = partsOf(bench.receiver).options;
    const run = (fromMs: number) => ({ handler: "audit", outcome: "done", fromMs, runs: 1 }) as const;
    const failed = { handler: "tracking", outcome: "failed", fromMs: 5_000, runs: 1_000 } as const;
    await writeRuns(store, [run(5_000), run(300_000), failed], Date.now());
    await show("#/work?show=handlers");
    const rows = rowsOf("Handlers");
    const row = rows.filter({ hasText: "audit" });
    await seeText(row, /^audit\s+runs\s[^]*\s2\s+0\.0 %\s+–\s+0\s+< 5\.5 s\s+> 5 min$/);
    expect(await row.locator(".bad").count()).toBe(0);
    const failing = rows.filter({ hasText: "tracking" });
    expect(await failing.locator(".bad").allInnerTexts()).toEqual(["fails", "100.0 %"]);
  });

  test("what runs now is listed with its time and its process", async () => {
    await reportRun(bench.receiver, { handler: "audit", eventId: "evt_1", since: Date.now() - 125_000 });
    await show("#/work?show=running");
    const row = rowsOf("Handlers that run now");
    await seeText(row, /^2 min\s+audit\s+evt_1\s+example:1$/);
    await button("Overview").click();
    const processes = page.getByRole("table", { name: "Processes on this store" });
    await seeText(processes, /:\d+ this one\s+both\s+running[^]*\nexample:1\s+both\s+running/);
  });

  test("an event's page leads from its delivery to its end, and shows the payload in full after a question", async () => {
    const id = await bench.deliver("email.bounced", { bounce: { reason: "mailbox of jane@customer.example is full" } });
    await show(`#/event?id=${id}`);
    await line().getByText("The service signed the delivery").waitFor();
    await line()
      .getByText(/crm gave up after 1 attempt\b/)
      .waitFor();
    const payload = page.getByRole("region", { name: "Payload" });
    expect(await payload.innerText()).not.toContain("jane@customer.example");
    await button("Show it in full…").click();
    await confirm("Show it");
    await payload.getByText("jane@customer.example").waitFor();
    const download = page.waitForEvent("download");
    await button("Export as fixture or capture").click();
    await page.getByRole("menuitem", { name: "Save redacted capture" }).click();
    expect((await download).suggestedFilename()).toMatch(/\.json$/);
  });

  test("an event's page begins with the attempt that the app answered 503, and has the duplicate at its end", async () => {
    const sandbox = createSandbox({ receive: (request) => bench.receiver.fetch(request) });
    onTestFinished(() => sandbox.close());
    const { id: endpointId, secret } = sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
    await restart({ service: { sandbox, secret } });
    sandbox.faults.deliveries.add({ fault: { kind: "status", status: 503 }, times: 1 });
    const { id } = sandbox.emit("email.bounced").event;
    await sandbox.waitFor({ eventId: id });
    const [row] = sandbox.deliveries({ eventId: id });
    const { webhooks } = createClient(sandbox.clientOptions);
    await webhooks.replay(endpointId, row?.id ?? "");
    // The runs begin after the answer.
    const statesOf = async () => (await bench.receiver.inbox.get(id))?.handlers.map(({ state }) => state).toSorted();
    await expect.poll(statesOf).toEqual(["dead", "done"]);
    await webhooks.replay(endpointId, row?.id ?? "");
    await show(`#/event?id=${id}`);
    const entries = line().getByRole("listitem");
    await line().getByText("Attempt 1 of the service was answered 503").waitFor();
    expect(await entries.first().innerText()).toMatch(/answered 503 after \d+ ms\.\s*service's log/);
    await seeText(entries.last(), /A replay by the service was answered 200/);
    expect(await entries.allInnerTexts()).toHaveLength(8);
    expect(await line().getByRole("status").count()).toBe(0);
    expect(problems()).toEqual([]);
  });

  test("events whose ids a browser takes for steps in a path are opened and changed", async () => {
    const ids = [".", "..", "~..", "a/../b"];
    for (const id of ids) await bench.deliverEvent({ ...sampleEvent("email.bounced"), id });
    await show("#/work?state=dead");
    for (const given of ids) {
      const id = inboxIdOf("", given);
      await page.getByRole("link", { name: id, exact: true }).click();
      await page.locator(".copy-fact").getByText(id, { exact: true }).waitFor();
      const posted = page.waitForResponse("**/retry");
      await button("Retry").click();
      expect(await (await posted).json()).toEqual({ changed: 1 });
      await page.keyboard.press("Escape");
    }
    expect(problems()).toEqual([]);
  });

  test("events of named sources are narrowed to one of them", async () => {
    const { store } = partsOf(bench.receiver).options;
    for (const id of ["acme/evt_1", "beta/evt_1"]) await store.accept(newEvent(id, { work: [] }));
    await show("#/work");
    await button("Filters").click();
    await page.getByRole("combobox", { name: "Source" }).selectOption("beta");
    const listed = page.getByRole("link", { name: /evt_1/ });
    await expect.poll(() => listed.allInnerTexts()).toEqual(["beta/evt_1"]);
    await page.getByRole("combobox", { name: "Source" }).selectOption({ label: "All sources" });
    await expect.poll(() => listed.allInnerTexts()).toEqual(["beta/evt_1", "acme/evt_1"]);
    expect(problems()).toEqual([]);
  });

  test("finished steps are a waterfall, and the list of work says subject, handler and error", async () => {
    const order: Handler = async (_, ctx) => {
      await ctx.step("find contact", () => "ada");
      throw new DoNotRetry("no order");
    };
    const register = (receiver: Receiver) => void receiver.on("email.received", order, { name: "orders" });
    await restart({ payloads: "full", register });
    const id = await bench.deliver("email.received", { subject: "Where is it?" });
    await show(`#/event?id=${id}`);
    const steps = page.getByRole("list", { name: "Steps" }).getByRole("listitem");
    await expect
      .poll(async () => (await steps.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ")))
      .toEqual([expect.stringMatching(/^find contact \d+ ms/), expect.stringMatching(/^failed 1 \d+ ms/)]);
    await go("#/work?handler=orders");
    const row = rowsOf("Events");
    const words = /dead .* email\.received Where is it\? · .* orders: DoNotRetry: no order/;
    await expect.poll(() => wordsOf(row)).toMatch(words);
  });

  test("actions on chosen contact events say how many they can change", async () => {
    await bench.deliver("email.opened");
    await expect.poll(async () => (await bench.receiver.contactEvents.list()).items[0]?.state).toBe("dead");
    const states = ["dead", "pending", "running", "done"];
    await openAt("about:blank");
    const { items } = (await (await page.request.get(`${bench.url}api/outbox`)).json()) as { items: object[] };
    const rows = states.map((state) => ({ ...items[0], key: state, state, dueAt: null, call: null }));
    await page.route("**/api/outbox", (route) => route.fulfill({ json: { items: rows, nextCursor: null } }));
    await page.goto(`${bench.url}#/outbox?state=`);
    await page.locator("[data-row]").first().waitFor();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    const bar = page.getByRole("toolbar", { name: "Chosen contact events" });
    await bar.getByText("4 chosen").waitFor();
    const posted = page.waitForRequest("**/api/outbox/retry");
    await bar.getByRole("button", { name: "Discard (2)" }).waitFor();
    await bar.getByRole("button", { name: "Retry (1)" }).click();
    expect((await posted).postDataJSON()).toEqual({ ids: ["dead"] });
  });

  test("a contact event whose call waits for its next try is tried now, and sent again once it was refused", async () => {
    bench.apiFaults.push({ status: 503, retryAfter: "600" });
    await bench.deliver("email.opened");
    await expect
      .poll(async () => (await bench.receiver.contactEvents.list()).items[0]?.dueAt)
      .toEqual(expect.any(String));
    await show("#/outbox");
    await button("retrying").click();
    await seeText(page.locator("[data-row] .state-column"), "retrying");
    expect(page.url()).toContain("state=retrying");
    await openContactEvent();
    await contactEvent().getByText("HTTP 503").first().waitFor();
    const inFront = page.url();
    const behind = await bench.deliver("email.opened");
    await expect.poll(async () => (await bench.receiver.contactEvents.list()).items.length).toBe(2);
    await button(/^pending/).click();
    const why = page
      .locator("[data-row] .error-cell")
      .filter({ hasText: /waits behind a call that fails: .*HTTP 503/ });
    await why.click();
    await contactEvent()
      .getByText(/^It waits behind the call of email.opened, which fails: .*HTTP 503.*\. Next try /)
      .waitFor();
    await go(`#/event?id=${behind}`);
    await page
      .getByRole("region", { name: "Contact events" })
      .locator(".waits-behind")
      .getByRole("link", { name: "email.opened" })
      .click();
    const keyIn = (url: string) => new URLSearchParams(new URL(url).hash.split("?")[1]).get("key");
    expect(keyIn(page.url())).toBe(keyIn(inFront));
    await contactEvent().getByRole("button", { name: "Try now" }).click();
    await page.getByText("1 contact event due now").waitFor();
    await expect.poll(async () => (await bench.receiver.contactEvents.list()).items[0]?.code).toBe("contact_not_found");
    // It was refused, and is sent again.
    await contactEvent().getByText("contact_not_found").first().waitFor();
    await contactEvent().getByRole("button", { name: "Retry" }).click();
    await page.getByText("1 contact event pending again").waitFor();
    await contactEvent().getByRole("link", { name: "Event that recorded it" }).click();
    await page.getByRole("heading", { name: "email.opened" }).waitFor();
  });

  test("a person who may only read sees no action", async () => {
    const id = await bench.deliver("email.bounced");
    await bench.deliver("email.opened");
    bench.allow({ role: "read", name: "bob" });
    await show("#/overview");
    await page.getByText("read only").waitFor();
    for (const hash of ["#/errors", "#/work?state=dead", "#/work?show=handlers", `#/event?id=${id}`, "#/outbox"]) {
      await go(hash);
      await page.locator("[data-row], .timeline").first().waitFor();
      expect(await button(/Retry|Discard|Run now|Pause|Resume/).count(), hash).toBe(0);
      expect(await page.getByRole("checkbox").count(), hash).toBe(0);
    }
    expect(problems()).toEqual([]);
  });

  test("figures are plotted, moments are read with the arrow keys, and the range is part of the address", async () => {
    await writeExampleFigures(bench.receiver, { spanMs: 300_000, everyMs: 10_000 });
    await show("#/overview");
    const plot = page.getByRole("slider", { name: "Deliveries by outcome: moment" });
    await expect.poll(() => plot.getAttribute("aria-valuetext")).toMatch(/^[\d:]+: accepted \d+/);
    expect(await page.locator("canvas").count()).toBeGreaterThan(6);
    await plot.press("End");
    const at = Number(await plot.getAttribute("aria-valuenow"));
    await plot.press("ArrowLeft");
    await expect.poll(() => plot.getAttribute("aria-valuenow")).toBe(String(at - 1));
    const runTimes = page.getByRole("slider", { name: "Time of runs of all handlers: moment" });
    expect(await runTimes.getAttribute("aria-valuetext")).toMatch(
      /: median of the slowest handler < (?:2\.2|5\.5) ms, 95 % .* < 11 ms$/,
    );
    await page.getByRole("combobox", { name: /^Handler whose/ }).selectOption("crm");
    await page.getByRole("heading", { name: "Runs of crm", exact: true }).waitFor();
    await writeExampleFigures(bench.receiver, { spanMs: 3 * DAY, everyMs: 3 * HOUR });
    await button("7 days").click();
    expect(page.url()).toMatch(/#\/overview\?(?=.*range=7d)(?=.*handler=crm)/);
    await page.getByText("per 30 min").first().waitFor();
    expect(problems()).toEqual([]);
  });

  test("ages grow while nothing else changes", async () => {
    await bench.deliver("email.sent");
    await show("#/overview");
    const endpoint = page.getByRole("group", { name: "Endpoint" });
    await seeText(endpoint, /last accepted [2-9] s ago/);
  });

  test("the keyboard alone leads to an event and back", async () => {
    for (let n = 0; n < 3; n += 1) await bench.deliver("email.bounced");
    await show("#/overview");
    const focused = () => page.evaluate("document.activeElement.closest('[data-row]')?.dataset.row");
    await page.keyboard.press("g");
    await page.keyboard.press("w");
    await page.locator("[data-row]").first().waitFor();
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await page.getByText("2 chosen").waitFor();
    const row = await focused();
    expect(row).toMatch(/^evt_/);
    await page.keyboard.press("Enter");
    await line().waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.outerHTML")).toMatch(/^<h1[^>]*>email\.bounced/);
    expect(await page.title()).toBe(`Event ${String(row)} · pigeonhole dashboard`);
    await page.keyboard.press("Escape");
    await page.getByText("2 chosen").waitFor();
    await expect.poll(focused).toBe(row);
    await button("Discard (2)").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toMatch("Discard (2)");
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.getByRole("heading", { name: "Errors" }).waitFor();
    await page.locator("[data-row]").first().waitFor();
    await page.keyboard.press("j");
    const group = await focused();
    await page.keyboard.press("Enter");
    await button(/^Only the group/).waitFor();
    expect(await page.title()).toBe("Work DoNotRetry · pigeonhole dashboard");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Errors" }).waitFor();
    await expect.poll(focused).toBe(group);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
  });

  test("on a page that a link has opened, Escape leads to the list and not out of the dashboard", async () => {
    const id = await bench.deliver("email.bounced");
    await bench.deliver("email.complained");
    await show(`#/event?id=${id}`);
    await line().waitFor();
    for (const _ of [1, 2]) await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Work", exact: true }).waitFor();
    await page.getByRole("link", { name: id }).click();
    await line().waitFor();
    await page.reload();
    await line().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: id }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    const group = await page.getByRole("link", { name: "the ledger is closed" }).getAttribute("href");
    await show(group ?? "");
    await button(/^Only the group/).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Errors" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/errors");
  });

  test("a lost store is said with what this process knows, also by a new page, until it is back", async () => {
    await show("#/overview");
    await page.getByRole("group", { name: "Backlog" }).waitFor();
    await bench.setStoreLost(true);
    await page.getByRole("alert").getByText("was moved, deleted or replaced").waitFor();
    await bench.deliver("email.sent");
    const sees = async () => {
      await page.getByRole("alert").getByText("The store cannot be read.").waitFor();
      expect(await page.getByRole("group", { name: "Receiver" }).innerText()).toMatch(/running\s+this process alone/);
      await seeText(page.getByRole("group", { name: "Endpoint" }), /^Endpoint\s+1 of 100\s/);
      await page
        .getByRole("table", { name: "Alarms of this process" })
        .getByText("The store cannot be reached")
        .waitFor();
      await page.getByText("Deliveries by outcome").waitFor();
      for (const name of ["Backlog", "Outbox"]) expect(await page.getByRole("group", { name }).count()).toBe(0);
      expect(await page.getByText("Backlog of work").count()).toBe(0);
      expect(await page.getByRole("alert").count()).toBe(1);
    };
    await sees();
    await page.route("**/api/jobs", (route) =>
      route.fulfill({ json: { jobs: [jobRow({ state: "open", done: 600, endedAt: null })] } }),
    );
    await page.reload();
    await sees();
    const waits = page.getByRole("region", { name: "Jobs" }).getByText(/^It waits: .* was moved, deleted or replaced/);
    await waits.waitFor();
    await bench.setStoreLost(false);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await waits.waitFor({ state: "detached" });
    await page.getByRole("group", { name: "Backlog" }).waitFor();
    await page.getByText("Backlog of work").waitFor();
  });

  test("lists that were read before are not shown while the store is lost, and a person keeps the role", async () => {
    await show("#/work");
    const shown = (name: string) => page.getByRole("heading", { name });
    await shown("The inbox is empty").waitFor();
    await bench.setStoreLost(true);
    for (const view of ["Work", "Errors", "Outbox"]) {
      await button(view).click();
      await shown("Not shown while the store cannot be read").waitFor();
      expect(await page.getByText(/is empty|No errors|Loading/).count(), view).toBe(0);
    }
    await page.getByText("may operate").waitFor();
    await bench.setStoreLost(false);
    await shown("The outbox is empty").waitFor();
    await page.getByText("may operate").waitFor();
  });

  test("a page that gets no stream reads by itself, and notes another person", async () => {
    await openAt("about:blank");
    await page.clock.install();
    await page.route("**/api/stream", (route) => route.fulfill({ status: 503, body: "{}" }));
    await page.goto(`${bench.url}#/overview`);
    await page.getByText("every 3 s", { exact: true }).waitFor();
    const endpoint = page.getByRole("group", { name: "Endpoint" });
    await expect.poll(() => endpoint.innerText()).toContain("nothing accepted yet");
    await bench.deliver("email.sent");
    await page.clock.runFor(4000);
    await expect.poll(() => endpoint.innerText()).toContain("last accepted");
    expect(await page.getByRole("alert").count()).toBe(0);
    bench.allow({ role: "read", name: "bob" });
    await page.clock.runFor(31_000);
    await page.getByText("read only").waitFor();
  });

  test("a lost app and an ended login are said", async () => {
    await show("#/overview");
    bench.setDown(true);
    await page.getByRole("alert").getByText("The app does not answer.").waitFor();
    bench.setDown(false);
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    bench.allow(undefined);
    await button("Work").click();
    await signedOut();
  });

  const signedOut = () => page.getByRole("heading", { name: "The app does not know you any more" }).waitFor();

  test("an ended login is said however the app answers then", async () => {
    await show("#/overview");
    const redirect = (location: string) => (req: IncomingMessage, res: ServerResponse) => {
      if (req.url === location) res.setHeader("content-type", "text/html").end("<!doctype html>Log in");
      else res.writeHead(302, { location }).end();
    };
    const answers: Record<string, RequestListener> = {
      "a redirect to a page of the app": redirect("/login"),
      "a redirect to another host": redirect("http://login.localhost:9/"),
      "a page in place of data": (_, res) => res.setHeader("content-type", "text/html").end("<!doctype html>Log in"),
      "403 with a page": (_, res) => res.writeHead(403, { "content-type": "text/html" }).end("<!doctype html>No"),
      "403 with data of the app": (_, res) => res.writeHead(403).end('{"message":"Forbidden resource"}'),
    };
    for (const [name, answer] of Object.entries(answers)) {
      bench.setLogin(answer);
      await go("#/work");
      await signedOut().catch((error: unknown) => expect.fail(`${name}: ${String(error)}`));
      expect(await page.getByRole("alert").count(), name).toBe(0);
      bench.setLogin((_req, _res, next) => next?.());
      await page.goto(`${bench.url}#/overview`);
      await page.reload();
      await page.getByText("live", { exact: true }).waitFor();
    }
  });

  test("an action after the login has ended, and a login that ended while the app was down, are said", async () => {
    const toLogin: RequestListener = (_, res) => res.writeHead(302, { location: "http://login.localhost:9/" }).end();
    await show("#/work?show=handlers");
    await button("Pause crm").click();
    bench.setLogin(toLogin);
    await confirm("Pause");
    await signedOut();
    await page.getByText("Your last action may not have been done.").waitFor();
    bench.setLogin((_req, _res, next) => next?.());
    await page.reload();
    await page.getByText("live", { exact: true }).waitFor();
    bench.setDown(true);
    await page.getByRole("alert").getByText("The app does not answer.").waitFor();
    bench.setLogin(toLogin);
    bench.setDown(false);
    await signedOut();
  });

  test("an address with a name and a password works", async () => {
    const authorization = `Basic ${btoa("ann:secret")}`;
    bench.setLogin((req, res, next) => {
      if (req.headers.authorization === authorization) next?.();
      else res.writeHead(401, { "www-authenticate": 'Basic realm="ops"' }).end();
    });
    await bench.deliver("email.bounced");
    await openAt(`${bench.url.replace("//", "//ann:secret@")}#/work?show=handlers`);
    await page.getByText("live", { exact: true }).waitFor();
    await button("Pause crm").click();
    await confirm("Pause");
    await page.getByText("Paused: crm").waitFor();
  });

  test("a refusal of one request by something else before the app ends no login", async () => {
    await show("#/overview");
    await page.route(/\/api\/events/, (route) => route.fulfill({ status: 403, body: "<!doctype html>No" }));
    await button("Work").click();
    await page.getByText("The app answered 403.").first().waitFor();
    await page.unroute(/\/api\/events/);
    await page.route(/\/api\/events/, (route) => route.fulfill({ body: "<!doctype html>Wait" }));
    await button(/^dead/).click();
    await page.getByText("The app answered with a page in place of data.").first().waitFor();
    expect(await page.getByRole("heading", { name: "Work" }).count()).toBe(1);
  });
});
