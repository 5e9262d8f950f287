import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { sampleEvent } from "#pigeonhole/sandbox/samples/sample-event.js";
import { describeInBrowser, seeText } from "./browser.js";
import { ROWS, describeBench, openWorkbench } from "./workbench.js";

describeBench("the work of the app's handlers", {}, ({ bench, page, rows }) => {
  const workOfRow = () => rows.first().locator(".work").innerText();
  const tab = () => page.getByRole("tabpanel");
  const line = () => page.locator(".detail-head .remark");
  /** Opens the newest delivery at the tab of this key. */
  const openTab = async (key: string) => {
    await rows.first().click();
    await page.keyboard.press(key);
  };
  /** Sends the open delivery with this body in place of its own; returns the answer beside the editor. */
  const sendEdited = async (body: object) => {
    await page.getByRole("button", { name: "Edit & replay" }).click();
    const drawer = page.getByRole("dialog", { name: "Edit and replay" });
    // By keys: text put into the page behind the editor's back makes the browser add styles, which the policy refuses.
    await drawer.getByRole("textbox", { name: "Body" }).press("Control+a");
    await page.keyboard.insertText(JSON.stringify(body, null, 2));
    await drawer.getByRole("button", { name: "Send" }).click();
    return drawer.getByRole("region", { name: "Answer", exact: true });
  };
  const closeEditor = () => page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  const eventId = () => bench.dev.captures.list()[0]?.event.id ?? "";

  test("the list shows a handler that fails, its next run, and its success, without asking for its work", async () => {
    await bench.deliver({ type: "email.sent" });
    await expect.poll(workOfRow).toBe("done");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await bench.deliver({ type: "email.complained" });
    await expect.poll(workOfRow).toMatch(/^retrying\s*\d of 4, next \d\d:\d\d:\d\d$/);
    bench.ledger.fix();
    await expect.poll(workOfRow).toBe("done");
    expect(asked.filter((path) => path.startsWith("/api/work"))).toEqual([]);
  });

  test("the chart counts a delivery by what its handlers made of it, and lists it by its time", async () => {
    await bench.deliver({ type: "email.sent" });
    await bench.deliver({ type: "email.bounced" });
    await bench.deliver({ body: JSON.stringify({ ...sampleEvent("email.sent"), type: "invoice.paid" }) });
    await bench.deliver({ type: "email.complained" });
    const chart = page.getByRole("region", { name: "Deliveries over time" });
    const counts = async () => (await chart.locator(".legend").allTextContents()).map((text) => text.trim());
    await expect.poll(counts).toEqual(["accepted 1", "retrying 1", "parked 1", "dead 1"]);
    bench.ledger.fix();
    const expected = ["accepted 2", "parked 1", "dead 1"];
    await expect.poll(counts).toEqual(expected);
    const ends = [Date.now() - 3_600_000, Date.now() + 3_600_000].map((at) => new Date(at).toISOString());
    await page.getByRole("combobox").fill(`after:${ends[0]} before:${ends[1]} `);
    await chart.getByRole("button", { name: "All times" }).waitFor();
    await expect.poll(counts).toEqual(expected);
    expect(await rows.count()).toBe(4);
  });

  test("the tab Handlers shows the first and the last error in full, counts the others, and retries", async () => {
    await bench.deliver({ type: "email.complained" });
    await expect.poll(workOfRow).toMatch(/^dead/);
    await openTab("5");
    const handler = tab().locator(".handler").filter({ hasText: "ledger" });
    await seeText(handler, /^dead\s+ledger\s+4 of 4 attempts\s+attempts_spent/);
    await seeText(
      handler,
      /Error of attempt 1 at [\d:]+\s+Error: the ledger is closed\s+at [^]*2 more failed attempts between\s+Error of attempt 4 at [\d:]+\s+Error: the ledger is closed\s+at /,
    );
    bench.ledger.fix();
    await line().getByRole("button", { name: "Retry" }).click();
    await page.getByText("Retry requested").first().waitFor();
    await seeText(handler, /^done\s+ledger[^]*Before it was done:\s+Error of attempt 1 at [\d:]+\s+Error: the ledger/);
    expect(await page.getByRole("button", { name: /Retry|Discard/ }).count()).toBe(0);
  });

  test("work that waits for its next run is run now from the line and the list, and keeps its attempts", async () => {
    await bench.deliver({ type: "suppression.added" });
    await expect.poll(workOfRow).toMatch(/^retrying/);
    await openTab("5");
    const handler = tab().locator(".handler");
    await seeText(handler, /^retrying\s+blocklist\s+1 of 4 attempts/);
    await line().getByRole("button", { name: "Run now" }).click();
    await seeText(handler, /^retrying\s+blocklist\s+2 of 4 attempts/);
    bench.ledger.fix();
    await page.keyboard.press("x");
    await page.getByRole("button", { name: "Run now (1)" }).click();
    await seeText(handler, /^done/);
    expect((await bench.inbox.get(eventId()))?.handlers).toMatchObject([{ state: "done", attempts: 3 }]);
  });

  test("the tab Handlers shows which event is newer than one that was superseded, and how that one had failed", async () => {
    await bench.deliver({ type: "suppression.added" });
    await expect.poll(workOfRow).toMatch(/^retrying/);
    const older = eventId();
    await bench.deliver({ type: "suppression.added" });
    await expect.poll(async () => (await bench.inbox.get(older))?.handlers[0]?.state).toBe("discarded");
    await rows.nth(1).click();
    await page.keyboard.press("5");
    await seeText(
      tab().locator(".handler"),
      new RegExp(
        `^discarded\\s+blocklist\\s+1 of 4 attempts\\s+superseded[^]*${eventId()} is newer\\s+Error of attempt 1 `,
      ),
    );
  });

  test("the tab Handlers follows a replay under a new id, and still shows the captured event", async () => {
    await bench.deliver({ type: "email.bounced" });
    await rows.first().click();
    await page.getByRole("button", { name: "Other ways to replay" }).click();
    await page.getByRole("menuitem", { name: /With a new event id/ }).click();
    await page.getByText(/^Replayed: 200 accepted/).waitFor();
    await page.getByRole("tab", { name: "Handlers" }).click();
    await expect
      .poll(() => tab().getByRole("heading").allInnerTexts())
      .toEqual([
        expect.stringMatching(/^handlers of a replay$/i),
        expect.stringMatching(/^time line$/i),
        expect.stringMatching(/^handlers of the captured event$/i),
        expect.stringMatching(/^time line$/i),
      ]);
    await tab().getByText("Received, verified and stored; answered 200.").first().waitFor();
    await expect.poll(() => tab().locator(".handler").count()).toBe(4);
  });

  test("the editor and the tab Answer show the work beside the answer, and follow it", async () => {
    await bench.deliver({ type: "email.sent" });
    await rows.first().click();
    const answer = await sendEdited(sampleEvent("email.complained"));
    const workIn = (place: Locator) => place.locator(".facts .badge").innerText();
    await expect.poll(() => workIn(answer)).toMatch(/^retrying\s*\d of 4/);
    bench.ledger.fix();
    await expect.poll(() => workIn(answer)).toBe("done");
    await closeEditor();
    await page.keyboard.press("4");
    await expect.poll(() => workIn(tab())).toBe("done");
    bench.answerWith({ status: 503, body: "" });
    await page.keyboard.press("r");
    await seeText(tab().locator(".answer-view"), /^503/);
    expect(await tab().locator(".facts .badge").count()).toBe(0);
  });

  test("the list finds deliveries by their work, and changes what is chosen", async () => {
    for (const type of ["email.bounced", "email.bounced", "email.sent"] as const) await bench.deliver({ type });
    await page.getByRole("button", { name: "handlers: dead 2" }).click();
    await expect.poll(() => rows.count()).toBe(2);
    for (const [term, count] of [
      ["work.handler:audit", 3],
      ['work.error:"no customer"', 2],
      ["work.state:parked", 0],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/deliveries?q=${encodeURIComponent(term)}`)}`);
      await expect.poll(() => rows.count()).toBe(count);
    }
    await page.evaluate('location.hash = "#/deliveries?q=work.state:dead"');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("checkbox", { name: /^Choose all/ }).check();
    const bar = page.getByRole("toolbar", { name: "Chosen deliveries" });
    await bar.getByRole("button", { name: "Retry (2)" }).click();
    await page.getByText("Retry requested: 2 pieces of work").waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("checkbox", { name: /^Choose all/ }).check();
    await bar.getByRole("button", { name: "Discard (2)" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
    await page.getByText("Discarded: 2 pieces of work").waitFor();
    await expect.poll(() => rows.count()).toBe(0);
  });

  test("an event that only the inbox has is listed with all that is known", async () => {
    await bench.deliver({ type: "email.opened" });
    await expect.poll(async () => (await bench.receiver.contactEvents.list({ state: "dead" })).items.length).toBe(1);
    await rows.first().click();
    await page.keyboard.press("Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await seeText(rows.first().locator(".tag"), "inbox only");
    await rows.first().click();
    await page.getByText("Only the inbox has this event").waitFor();
    await page.getByRole("tree", { name: "Payload" }).getByText('"email.opened"').waitFor();
    await page.keyboard.press("5");
    const recorded = tab().getByRole("region", { name: "Contact events" });
    await seeText(recorded.getByRole("listitem"), /^dead\s+email\.opened\s+nobody@/);
    await recorded.getByRole("link", { name: "email.opened" }).click();
    const pane = page.getByRole("region", { name: "Contact event", exact: true });
    await pane.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
    await seeText(pane.locator(".badge"), "discarded");
    await pane.getByRole("link", { name: "Event that recorded it" }).click();
    await seeText(rows.first().locator(".type-column"), "email.opened");
  });
});

describeInBrowser("the work of the app's handlers as the page opens", (open) => {
  test("the list shows the work on deliveries of an earlier run of the dev server", async () => {
    const bench = await openWorkbench();
    await bench.deliver({ type: "email.bounced" });
    await bench.dev.close();
    await bench.restart();
    const { page } = await open(bench.dev.pageUrl ?? "");
    await seeText(page.locator(ROWS).first().locator(".work"), /^dead/);
  });

  test("the tab Handlers says that the result is not known, and how to show it", async () => {
    const bench = await openWorkbench({ hasInbox: false });
    for (let n = 0; n < 2; n += 1) await bench.deliver({ type: "email.bounced" });
    const { page } = await open(bench.pageUrl);
    await page.locator(ROWS).first().click();
    await page.keyboard.press("5");
    const tab = page.getByRole("tabpanel");
    await seeText(tab, /The results of handlers are not known here\.[^]*pigeonhole dev --inbox/);
    expect(await page.getByRole("columnheader", { name: "Handlers" }).count()).toBe(0);
  });
});
