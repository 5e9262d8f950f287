import { createReceiver } from "pigeonhole";
import { sampleEvent } from "pigeonhole/testing";
import type { EventType } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";
import { mustSkipBrowserTests, type OpenPage } from "./browser.js";
import { openForEach } from "./open-for-each.js";
import { SECRET, type Workbench } from "./workbench.js";

describe.skipIf(mustSkipBrowserTests())("sending and the inbox", () => {
  let bench: Workbench;
  let page: OpenPage["page"];

  openForEach((opened) => ({ bench, page } = opened));

  const goTo = (name: string) => page.getByRole("navigation", { name: "Views" }).getByRole("button", { name }).click();
  const stateOf = async (id: string) => (await bench.inbox.get(id))?.state;

  test("the send view offers all 24 types and sends the sample of one", async () => {
    await goTo("Send");
    const types = page.getByRole("navigation", { name: "Event types" });
    await expect.poll(() => types.locator(".type-item").count()).toBe(24);
    await types.getByRole("button", { name: "form.submitted" }).click();
    await page.getByRole("textbox", { name: "Envelope of the event" }).getByText('"form.submitted"').waitFor();
    await page.getByRole("button", { name: /^Send Ctrl/ }).click();
    await page.locator(".notice.good").getByText("Sent 1 delivery: 200 accepted").waitFor();
    const sent = page.getByRole("region", { name: "Sent from here" });
    await sent.getByText(/^200/).waitFor();
    expect((await bench.inbox.list({})).items.map(({ type }) => type)).toEqual(["form.submitted"]);
  });

  test.each([
    ["Wrong secret", "mismatch", "503"],
    ["Stale", "stale", "503"],
    ["Tampered", "mismatch", "503"],
    ["Missing", "unsigned", "401"],
  ])("the send view sends a sample with the fault %s: %s, answered %s", async (variant, verdict, status) => {
    await goTo("Send");
    await page.getByRole("radio", { name: variant }).check();
    await page.getByRole("button", { name: /^Send Ctrl/ }).click();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    const row = page.locator(".list-window .row").first();
    await row.waitFor();
    await expect.poll(() => row.innerText()).toContain(status);
    await expect.poll(() => row.locator(".badge-word").textContent()).toBe(verdict);
    expect((await bench.inbox.list({})).items).toEqual([]);
  });

  test("the send view sends one event several times, and the receiver accepts it once", async () => {
    await goTo("Send");
    await page.getByRole("spinbutton", { name: "Deliveries of this event" }).fill("3");
    await page.getByRole("button", { name: "Send 3 times" }).click();
    await page.getByText("Sent 3 deliveries: 1 × 200 accepted, 2 × 200 duplicate").waitFor();
    expect(bench.dev.captures.size).toBe(3);
    expect((await bench.inbox.list({})).items).toHaveLength(1);
  });

  test.each([
    ["email.bounced", {}, "good", "Sent 1 delivery: 200 accepted", "dead"],
    ["email.sent", { type: "invoice.paid" }, "warn", "Sent 1 delivery: 200 parked", "parked"],
  ])("the send view shows what the app made of %s with %o", async (type, change, tone, text, work) => {
    await goTo("Send");
    await page.getByRole("button", { name: type }).click();
    const editor = page.getByRole("textbox", { name: "Envelope of the event" });
    await editor.getByText(`"${type}"`).waitFor();
    await editor.press("Control+a");
    await page.keyboard.insertText(JSON.stringify({ ...sampleEvent(type as EventType), ...change }));
    await page.getByRole("button", { name: /^Send Ctrl/ }).click();
    await page.locator(`.notice.${tone}`).getByText(text).waitFor();
    const sent = page.getByRole("region", { name: "Sent from here" }).getByRole("button");
    await expect.poll(() => sent.locator(".badge.work").textContent()).toContain(work);
    const [shown, whole] = await page.evaluate<[number, number]>(`(() => {
      const { clientWidth, scrollWidth } = document.querySelector(".sent-type");
      return [clientWidth, scrollWidth];
    })()`);
    expect(shown, "width of the type in sight").toBe(whole);
  });

  test("the send view remembers what was sent, and sends it again under a new id", async () => {
    await goTo("Send");
    await page.getByRole("textbox", { name: "Envelope of the event" }).waitFor();
    await page.getByRole("button", { name: /^Send Ctrl/ }).click();
    await page.reload();
    const before = page.getByRole("region", { name: "Sent before" }).getByRole("button");
    await expect.poll(() => before.count()).toBe(1);
    const [shown, whole] = await page.evaluate<[number, number]>(`(() => {
      const { clientWidth, scrollWidth } = document.querySelector(".sent-type");
      return [clientWidth, scrollWidth];
    })()`);
    expect(shown, "width of the type in sight").toBe(whole);
    await before.click();
    await page.getByRole("button", { name: /^Send Ctrl/ }).click();
    await expect.poll(async () => (await bench.inbox.list({})).items.length).toBe(2);
    const [first, second] = bench.dev.captures.list().map(({ event }) => event);
    expect(first?.type).toBe(second?.type);
  });

  test.each([
    ["type", (long: string) => ({ type: `${long}.paid` })],
    ["id", (long: string) => ({ id: `evt_${long}` })],
  ])("an event with a long %s leaves the error of each event in sight", async (_, change) => {
    await bench.deliver({ body: JSON.stringify({ ...sampleEvent("email.sent"), ...change("x".repeat(180)) }) });
    await bench.deliver({ type: "email.bounced" });
    await goTo("Inbox");
    const rows = page.getByRole("table", { name: "Events" }).locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(2);
    const error = rows.locator(".error-cell").filter({ hasText: "no customer for this address" });
    await error.waitFor();
    const { x, width } = (await error.boundingBox()) ?? { x: 0, width: 0 };
    expect(width).toBeGreaterThan(100);
    expect(x + width).toBeLessThanOrEqual(1280);
  });

  test.each([1280, 390])("a long type in the inbox ends with an ellipsis at %i pixels", async (width) => {
    await bench.deliver({
      body: JSON.stringify({ ...sampleEvent("email.sent"), type: `${"x".repeat(180)}.paid` }),
    });
    await page.setViewportSize({ width, height: 720 });
    await page.evaluate('location.hash = "#/inbox"');
    const name = page.getByRole("table", { name: "Events" }).locator("tbody .link");
    await name.waitFor();
    const [end, cellEnd, overflow] = await page.evaluate<[number, number, string]>(`(() => {
      const link = document.querySelector("tbody .link");
      const [inner, outer] = [link, link.closest("td")].map((element) => element.getBoundingClientRect());
      return [inner.right, outer.right, getComputedStyle(link).textOverflow];
    })()`);
    expect(end).toBeLessThanOrEqual(cellEnd);
    expect(overflow).toBe("ellipsis");
  });

  test("the inbox view finds events by error and type, and retries and discards the chosen ones", async () => {
    for (const type of ["email.bounced", "email.bounced", "email.sent", "email.complained"] as const) {
      await bench.deliver({ type });
    }
    await expect.poll(async () => (await bench.inbox.list({ state: "dead" })).items.length).toBe(2);
    await goTo("Inbox");
    const rows = page.getByRole("table", { name: "Events" }).locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(4);
    await page.getByRole("combobox", { name: "Event type" }).selectOption("email.sent");
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(() => rows.count()).toBe(4);
    await page.getByRole("searchbox", { name: "Search the inbox" }).fill("No Customer");
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(() => decodeURIComponent(page.url())).toContain("q=No+Customer");
    await page.getByRole("checkbox", { name: "Choose all 2 events" }).check();
    const bar = page.getByRole("toolbar", { name: "Chosen events" });
    await bar.getByRole("button", { name: "Retry (2)" }).click();
    await page.getByText("Retry of 2 events requested, waiting for the receiver").waitFor();
    await page.getByText("Retried: 2 dead").waitFor();
    expect((await bench.inbox.list({ state: "dead" })).items).toHaveLength(2);
    await page.getByRole("checkbox", { name: "Choose all 2 events" }).check();
    await bar.getByRole("button", { name: "Discard (2)" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
    await page.getByText("2 pieces of work discarded").waitFor();
    expect((await bench.inbox.list({ state: "dead" })).items).toEqual([]);
  });

  test("the inbox view has keys to move, open, choose and retry", async () => {
    await bench.deliver({ type: "email.sent" });
    await bench.deliver({ type: "email.bounced" });
    const id = bench.dev.captures.list()[0]?.event.id ?? "";
    await expect.poll(() => stateOf(id)).toBe("dead");
    await goTo("Inbox");
    const rows = page.getByRole("table", { name: "Events" }).locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(2);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Event", exact: true }).getByRole("button", { name: id }).waitFor();
    await page.keyboard.press("x");
    await page.getByText("1 chosen").waitFor();
    await page.keyboard.press("r");
    await page.getByText("Retry requested, waiting for the receiver").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("region", { name: "Event", exact: true }).count()).toBe(0);
  });

  test("the inbox view offers no action on chosen rows, and keys act on none, once another list is shown", async () => {
    await bench.deliver({ type: "email.bounced" });
    await bench.deliver({ type: "email.opened" });
    await expect.poll(async () => (await bench.inbox.list({ state: "dead" })).items.length).toBe(1);
    await goTo("Inbox");
    await page.locator("tbody tr").filter({ hasText: "email.bounced" }).getByRole("checkbox").check();
    await page.getByText("1 chosen").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => request.method() === "POST" && asked.push(request.url()));
    for (const address of ["#/inbox?show=contact-events", "#/inbox?type=email.opened"]) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
      await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
      await expect.poll(() => page.locator("tbody tr").innerText()).toContain("email.opened");
      await expect.poll(() => page.getByText("1 chosen").count()).toBe(0);
      await page.keyboard.press("r");
      await page.keyboard.press("Delete");
      await page.waitForTimeout(300);
      expect(await page.getByRole("dialog").count()).toBe(0);
    }
    expect(asked).toEqual([]);
  });

  test("an open event that the list leaves out is retried, and what came of it is said", async () => {
    await bench.deliver({ type: "email.bounced" });
    const id = bench.dev.captures.list()[0]?.event.id ?? "";
    await expect.poll(() => stateOf(id)).toBe("dead");
    await page.evaluate(`location.hash = "#/inbox?q=another&event=${id}"`);
    const event = page.getByRole("region", { name: "Event", exact: true });
    await event.getByRole("button", { name: id }).waitFor();
    expect(await page.getByRole("button", { name: `Show ${id}` }).count()).toBe(0);
    await page.keyboard.press("r");
    await page.getByText("Retry requested, waiting for the receiver").waitFor();
    await page.getByText(/^Retried: Handler crm is dead: .*no customer for this address/).waitFor();
  });

  test("the inbox view shows events by state with the handler's error, and retries a dead one", async () => {
    await bench.deliver({ type: "email.sent" });
    await bench.deliver({ type: "email.bounced" });
    const id = bench.dev.captures.list()[0]?.event.id ?? "";
    await expect.poll(() => stateOf(id)).toBe("dead");
    await goTo("Inbox");
    await page.getByRole("region", { name: "Events", exact: true }).getByRole("button", { name: "1 dead" }).click();
    const table = page.getByRole("table", { name: "Events" });
    await expect.poll(() => table.getByRole("row").count()).toBe(2);
    await expect.poll(() => table.innerText()).toContain("no customer for this address");
    await table.getByRole("button", { name: `Show ${id}` }).click();
    await page.locator(".error-text").waitFor();
    await expect
      .poll(() => page.locator(".handler").allInnerTexts())
      .toEqual([
        expect.stringMatching(/done\s+audit/),
        expect.stringMatching(/dead\s+crm[\s\S]*no customer for this address/),
      ]);
    await page.getByRole("button", { name: "Retry", exact: true }).click();
    await page.getByText(/^Retried: Handler crm is dead: .*no customer for this address/).waitFor();
  });

  test("the inbox view says that a requested retry waits for the receiver, and then what came of it", async () => {
    await bench.deliver({ type: "email.bounced" });
    await bench.deliver({ body: JSON.stringify({ ...sampleEvent("email.sent"), type: "invoice.paid" }) });
    const ids = bench.dev.captures.list().map(({ event }) => event.id ?? "");
    await expect.poll(async () => await Promise.all(ids.map(stateOf))).toEqual(["parked", "dead"]);
    await bench.receiver.stop();
    await goTo("Inbox");
    const rows = page.getByRole("table", { name: "Events" }).locator("tbody tr");
    const badges = () => rows.locator(".badge").allInnerTexts();
    await expect.poll(badges).toEqual(["parked", "dead"]);
    await page.getByRole("checkbox", { name: "Choose all 2 events" }).check();
    await page.getByRole("button", { name: "Retry (2)" }).click();
    await expect.poll(badges).toEqual(["retry requested", "retry requested"]);
    await rows.nth(1).click();
    const crm = page.locator(".handler").filter({ hasText: "crm" });
    await expect.poll(() => crm.innerText()).toMatch(/^retry requested\s+crm\s+waiting for the receiver/);
    // Nothing more can be requested, and the list and the chart of deliveries say the same.
    expect(
      await page.getByRole("region", { name: "Event", exact: true }).getByRole("button", { name: "Retry" }).count(),
    ).toBe(0);
    await goTo("Deliveries");
    const legend = page.getByRole("region", { name: "Deliveries over time" }).locator(".legend");
    await expect.poll(async () => (await legend.allTextContents()).map((text) => text.trim())).toEqual(["retrying 2"]);
    await goTo("Inbox");

    const next = createReceiver({ secrets: SECRET, store: bench.file });
    next.on("email.*", () => undefined, { name: "audit" });
    next.on("email.bounced", () => undefined, { name: "crm" });
    await next.start();
    await expect.poll(badges, { timeout: 25_000 }).toEqual(["parked", "done"]);
    await page.getByText(/^Retried at \d\d:\d\d:\d\d: done$/).waitFor();
    await rows.nth(0).click();
    await page.getByText(/^Retried at \d\d:\d\d:\d\d: The event is parked: unknown_type/).waitFor();
    await next.stop();
  });

  test("the inbox view counts what each list shows, including test deliveries and events with several handlers", async () => {
    await bench.deliver({ type: "email.sent" });
    await bench.deliver({ type: "email.bounced" });
    await bench.deliver({ type: "email.sent", data: { test: true } });
    await expect.poll(async () => (await bench.inbox.list({ state: "dead" })).items.length).toBe(1);
    await expect.poll(async () => (await bench.inbox.list({ state: "done" })).items.length).toBe(2);
    await goTo("Inbox");
    const counts = page.getByRole("region", { name: "Events", exact: true });
    const rows = page.getByRole("table", { name: "Events" }).locator("tbody tr");
    for (const [tile, count] of [
      ["3 all", 3],
      ["2 done", 2],
      ["1 dead", 1],
    ] as const) {
      await counts.getByRole("button", { name: tile }).click();
      await expect.poll(() => rows.count()).toBe(count);
    }
  });

  test("the inbox view says that an event without a handler is not done", async () => {
    await bench.deliver({ type: "email.sent" });
    await expect.poll(async () => (await bench.inbox.list({ state: "done" })).items.length).toBe(1);
    await bench.deliver({ type: "email.sent", data: { test: true } });
    await goTo("Inbox");
    const badges = page.getByRole("table", { name: "Events" }).locator("tbody .badge");
    await expect.poll(() => badges.allInnerTexts()).toEqual(["no handler", "done"]);
    await page
      .getByRole("button", { name: /, show / })
      .first()
      .click();
    await page.getByText("A test delivery: handlers get it with the option testEvents.").waitFor();
    await expect.poll(() => page.locator(".detail-title .badge").innerText()).toBe("no handler");
    const event = page.getByRole("region", { name: "Event", exact: true });
    expect(await event.getByRole("button", { name: "Retry" }).count()).toBe(0);
    await page.getByRole("region", { name: "Events", exact: true }).getByRole("button", { name: "1 done" }).click();
    await expect.poll(() => badges.allInnerTexts()).toEqual(["done"]);
  });

  test("an event that no handler got is retried, alone and with others, and what came of it is said", async () => {
    for (const subject of ["one", "two"]) await bench.deliver({ type: "form.submitted", data: { subject } });
    const ids = bench.dev.captures.list().map(({ event }) => event.id ?? "");
    await goTo("Inbox");
    await page.getByRole("button", { name: `Show ${ids[0]}` }).click();
    const event = page.getByRole("region", { name: "Event", exact: true });
    await event.getByText("No handler took it. Once the app has one").waitFor();
    await event.getByRole("button", { name: "Retry" }).click();
    await page.getByText("Retried: no handler takes it", { exact: true }).waitFor();
    await event.getByText(/^Retried at \d\d:\d\d:\d\d: no handler takes it$/).waitFor();

    await bench.receiver.stop();
    const next = createReceiver({ secrets: SECRET, store: bench.file });
    next.on("form.*", () => undefined, { name: "forms" });
    await next.start();
    await page.getByRole("checkbox", { name: "Choose all 2 events" }).check();
    await page.getByRole("button", { name: "Retry (2)" }).click();
    await page.getByText("Retried: 2 done").waitFor();
    await expect.poll(() => event.locator(".handler").innerText()).toMatch(/^done\s+forms/);
    await next.stop();
  });

  test("the inbox view discards a dead event only after a question", async () => {
    await bench.deliver({ type: "email.bounced" });
    const id = bench.dev.captures.list()[0]?.event.id ?? "";
    await expect.poll(() => stateOf(id)).toBe("dead");
    await goTo("Inbox");
    await page.getByRole("button", { name: `Show ${id}` }).click();
    await page.getByRole("button", { name: "Discard", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect(await stateOf(id)).toBe("dead");
    await page.getByRole("button", { name: "Discard", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
    await expect.poll(() => stateOf(id)).not.toBe("dead");
  });

  test("a contact event opens at its own address, leads to the event that recorded it and back, and is retried", async () => {
    await bench.deliver({ type: "email.opened" });
    const id = bench.dev.captures.list()[0]?.event.id ?? "";
    await expect.poll(async () => (await bench.receiver.contactEvents.list({ state: "dead" })).items.length).toBe(1);
    await goTo("Inbox");
    await page.getByRole("region", { name: "Contact events" }).getByRole("button", { name: "1 dead" }).click();
    const table = page.getByRole("table", { name: "Contact events" });
    await table.getByText("contact_not_found").first().waitFor();
    await expect.poll(() => table.innerText()).toContain("nobody@customer.example.com");
    await table.getByRole("button", { name: /^email\.opened, show / }).click();
    const pane = page.getByRole("region", { name: "Contact event", exact: true });
    await pane.locator(".error-text").waitFor();
    const facts = () => pane.getByRole("table", { name: "Contact event" }).locator("tr").allInnerTexts();
    expect(await facts()).toEqual(expect.arrayContaining(["Contact\tnobody@customer.example.com", "Attempts\t1"]));
    await pane.getByRole("tree", { name: "Contact event as sent" }).getByText("occurredAt").waitFor();
    await page.reload();
    await pane.getByRole("button", { name: "Open the event that recorded it" }).click();
    const event = page.getByRole("region", { name: "Event", exact: true });
    await event.getByRole("button", { name: id }).waitFor();
    const recorded = event.getByRole("region", { name: "Contact events recorded" });
    await expect.poll(() => recorded.getByRole("listitem").innerText()).toMatch(/^dead\s+email\.opened\s+nobody@/);
    await recorded.getByRole("button", { name: "email.opened" }).click();
    await pane.getByRole("button", { name: "Retry" }).click();
    await page.getByText("1 contact event pending again").waitFor();
    await expect.poll(() => pane.locator(".badge").innerText()).not.toBe("dead");
    await page.keyboard.press("Escape");
    await expect.poll(() => pane.count()).toBe(0);
  });

  test("a contact event that is open is discarded, and shown as it is then", async () => {
    await bench.deliver({ type: "email.opened" });
    await expect.poll(async () => (await bench.receiver.contactEvents.list({ state: "dead" })).items.length).toBe(1);
    await page.evaluate('location.hash = "#/inbox?show=contact-events&state=dead"');
    await page.getByRole("table", { name: "Contact events" }).getByRole("button").click();
    const pane = page.getByRole("region", { name: "Contact event", exact: true });
    await pane.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
    // The list of what is dead no longer has it.
    await page.getByText("Nothing is dead").waitFor();
    await expect.poll(() => pane.locator(".badge").innerText()).toBe("discarded");
  });

  test("keys move through contact events and open them", async () => {
    for (const key of ["one", "two"]) {
      await bench.receiver.contactEvents.record(
        { name: `order.${key}`, email: "nobody@customer.example.com" },
        { key: `order-${key}` },
      );
    }
    await goTo("Inbox");
    await page.getByRole("region", { name: "Contact events" }).getByRole("button", { name: "2 all" }).click();
    await expect.poll(() => page.getByRole("table", { name: "Contact events" }).locator("tbody tr").count()).toBe(2);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    const heading = page.getByRole("region", { name: "Contact event", exact: true }).getByRole("heading", { level: 2 });
    await expect.poll(() => heading.innerText()).toBe("order.two");
    await page.keyboard.press("j");
    await expect.poll(() => heading.innerText()).toBe("order.one");
  });

  test(
    "the inbox view finds contact events by name and text, and retries and discards the chosen ones",
    { timeout: 60_000 },
    async () => {
      for (const email of ["ada", "grace", "edsger"]) {
        await bench.receiver.contactEvents.record(
          { name: email === "ada" ? "order.shipped" : "order.paid", email: `nobody+${email}@customer.example.com` },
          { key: `order-${email}` },
        );
      }
      const dead = async () => (await bench.receiver.contactEvents.list({ state: "dead" })).items.length;
      await expect.poll(dead, { timeout: 20_000 }).toBe(3);
      await goTo("Inbox");
      await page.getByRole("region", { name: "Contact events" }).getByRole("button", { name: "3 all" }).click();
      const rows = page.getByRole("table", { name: "Contact events" }).locator("tbody tr");
      await expect.poll(() => rows.count()).toBe(3);
      await page.getByRole("combobox", { name: "Name" }).selectOption("order.paid");
      await expect.poll(() => rows.count()).toBe(2);
      const box = page.getByRole("searchbox", { name: "Search the inbox" });
      await box.fill("GRACE");
      await expect.poll(() => rows.count()).toBe(1);
      await expect.poll(() => decodeURIComponent(page.url())).toContain("type=order.paid&q=GRACE");
      await page.getByRole("button", { name: "Show all" }).click();
      await expect.poll(() => rows.count()).toBe(3);
      // What is chosen is chosen from the list that is found, not from the one before it.
      const found = page.waitForResponse((response) => response.url().includes("contact_not_found"));
      await box.fill("contact_not_found");
      await found;
      await page.getByRole("checkbox", { name: "Choose all 3 contact events" }).check();
      const bar = page.getByRole("toolbar", { name: "Chosen contact events" });
      await bar.getByRole("button", { name: "Retry (3)" }).click();
      await page.getByText("3 contact events pending again").waitFor();
      await expect.poll(dead, { timeout: 20_000 }).toBe(3);
      // The list is read again after that.
      await expect.poll(() => rows.filter({ hasText: "dead" }).count()).toBe(3);
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.keyboard.press("Delete");
      await page.getByRole("dialog").getByText("Discard this contact event?").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
      await page.getByText("1 contact event discarded").waitFor();
      expect(await dead()).toBe(2);
      // What was for contact events is not for events.
      await page.getByRole("region", { name: "Events", exact: true }).getByRole("button", { name: "0 all" }).click();
      await expect.poll(() => box.inputValue()).toBe("");
    },
  );

  test(
    "the inbox view says how many of the chosen contact events could not be changed",
    { timeout: 60_000 },
    async () => {
      await bench.receiver.contactEvents.record({ name: "order.paid", email: "nobody@customer.example.com" });
      await bench.receiver.contactEvents.record({ name: "order.paid", email: "ada@customer.example.com" });
      const states = async () =>
        (await bench.receiver.contactEvents.list({})).items.map(({ state }) => state).toSorted();
      await expect.poll(states, { timeout: 20_000 }).toEqual(["dead", "done"]);
      await goTo("Inbox");
      await page.getByRole("region", { name: "Contact events" }).getByRole("button", { name: "2 all" }).click();
      await page.getByRole("checkbox", { name: "Choose all 2 contact events" }).check();
      await page.getByRole("button", { name: "Retry (2)" }).click();
      await page.getByText("1 contact event pending again").waitFor();
      await page.getByText("1 contact event could not be changed: not in a state for it").waitFor();
    },
  );
});
