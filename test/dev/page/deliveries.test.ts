import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { mustSkipBrowserTests, type OpenPage } from "./browser.js";
import { openForEach } from "./open-for-each.js";
import type { Workbench } from "./workbench.js";

describe.skipIf(mustSkipBrowserTests())("the list of deliveries", () => {
  let bench: Workbench;
  let page: OpenPage["page"];
  let problems: string[];

  openForEach((opened) => ({ bench, page, problems } = opened));

  const rows = () => page.locator(".list-side [data-row]");

  test("the list of deliveries starts empty and says where to send deliveries, and how to make one", async () => {
    await page.getByRole("heading", { name: "Waiting for the first delivery" }).waitFor();
    await expect
      .poll(() => page.locator(".empty").getByRole("button", { name: "Copy the receiving URL" }).innerText())
      .toBe(bench.dev.captureUrl);
    await page.getByRole("button", { name: /Send a sample event/ }).click();
    await page.getByRole("navigation", { name: "Event types" }).waitFor();
  });

  test("the list of deliveries does not move what is being read when deliveries arrive", async () => {
    for (let n = 0; n < 60; n += 1) await bench.deliver({ data: { subject: `number ${n}` } });
    await page.getByText("60", { exact: true }).first().waitFor();
    const topmost = () =>
      page.evaluate("document.elementFromPoint(600, 300).closest('[data-row]').querySelector('.subject').textContent");
    const atTheTop = await topmost();
    await page.evaluate("document.querySelector('.dash-list').scrollTop = 400");
    await expect.poll(topmost).not.toBe(atTheTop);
    const before = await topmost();
    for (let n = 0; n < 3; n += 1) await bench.deliver({ data: { subject: `late ${n}` } });
    await page.getByText("late 2").waitFor();
    expect(await topmost()).toBe(before);
    await page.keyboard.press("Home");
    await expect.poll(() => rows().first().innerText()).toContain("late 2");
  });

  test("the list of deliveries starts at its top after another search", async () => {
    for (let n = 0; n < 60; n += 1) {
      await bench.deliver({ type: n % 2 === 0 ? "email.sent" : "email.queued", data: { subject: `number ${n}` } });
    }
    await page.getByText("60", { exact: true }).first().waitFor();
    await page.evaluate("document.querySelector('.dash-list').scrollTop = 400");
    const count = page.locator(".strip-count");
    await page.getByRole("combobox").fill("type:email.sent ");
    await expect.poll(() => count.innerText()).toBe("30 of 60");
    expect(await page.evaluate("document.querySelector('.dash-list').scrollTop")).toBe(0);
    await page.evaluate("document.querySelector('.dash-list').scrollTop = 200");
    await page.getByRole("combobox").fill("");
    await expect.poll(() => count.innerText()).toBe("60");
    expect(await page.evaluate("document.querySelector('.dash-list').scrollTop")).toBe(0);
  });

  test("the list of deliveries is searched with completion and a query in the address bar", async () => {
    await bench.deliver({ type: "email.sent" });
    await bench.deliver({ type: "email.bounced", variant: "missing" });
    await bench.deliver({ type: "file.uploaded" });
    await rows().nth(2).waitFor();
    const box = page.getByRole("combobox", { name: "Search deliveries" });
    await box.fill("ver");
    await page.getByRole("option", { name: /verdict:/ }).click();
    await page.getByRole("option", { name: "verdict:bad" }).click();
    await expect.poll(() => rows().count()).toBe(1);
    expect(await box.inputValue()).toBe("verdict:bad ");
    await expect.poll(() => decodeURIComponent(page.url())).toContain("q=verdict:bad");

    // A new delivery that does not match stays away; one that does comes in.
    await bench.deliver({ type: "email.opened" });
    await bench.deliver({ type: "email.clicked", variant: "stale" });
    await expect.poll(() => rows().count()).toBe(2);

    await box.press("Escape");
    await box.pressSequentially("type:email.* receipt");
    await expect.poll(() => decodeURIComponent(page.url())).toContain("q=type:email.*+receipt");
    await page.reload();
    await expect.poll(() => box.inputValue()).toBe("type:email.* receipt");
    // In front of what is there.
    await box.press("Home");
    await box.pressSequentially("-verdict:bad ");
    await expect.poll(() => decodeURIComponent(page.url())).toContain("q=-verdict:bad+type:email.*+receipt");
    // Completions are of the term at the caret, wherever it goes; Enter in a quoted text keeps the text.
    await box.fill("verdict:b type:email");
    await page.getByRole("option", { name: "type:email.sent" }).waitFor();
    for (let n = 0; n < 12; n += 1) await box.press("ArrowLeft");
    await page.getByRole("option", { name: "verdict:bad" }).waitFor();
    await box.fill('"one two"');
    for (const key of ["ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter"]) await box.press(key);
    expect(await box.inputValue()).toBe('"one two"');
    await box.fill("outcome:");
    const offers = page.getByRole("listbox", { name: "Completions" }).getByRole("option");
    const outcomes = ["outcome:accepted", "outcome:duplicate", "outcome:parked"];
    await expect.poll(async () => (await offers.allInnerTexts()).slice(0, 3)).toEqual(outcomes);
  });

  test("the list of deliveries takes a quoted value key by key, and stays while a term is unfinished", async () => {
    await bench.deliver({ type: "email.sent", data: { subject: "Invoice 2041" } });
    await bench.deliver({ type: "email.sent", data: { subject: 'The "blue" order' } });
    await rows().nth(1).waitFor();
    // A delivery that arrives while the list is loaded has it loaded once more.
    await page.waitForTimeout(300);
    const box = page.getByRole("combobox", { name: "Search deliveries" });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await box.pressSequentially("typ");
    // A field that is not known is no error, nor a word, before it has a value.
    await box.fill("zzz:");
    await page.waitForTimeout(500);
    await box.fill("");
    await box.pressSequentially('data.subject:"Invoice 20');
    await page.waitForTimeout(500);
    await expect.poll(() => rows().count()).toBe(2);
    expect(asked.filter((url) => url.includes("subject"))).toEqual([]);
    await box.pressSequentially('41"');
    await expect.poll(() => rows().count()).toBe(1);
    await box.fill("");
    // Enter ends the quote.
    await box.pressSequentially('data.subject:"The \\"blue\\" order');
    await box.press("Enter");
    expect(await box.inputValue()).toBe('data.subject:"The \\"blue\\" order"');
    await expect.poll(() => rows().count()).toBe(1);
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("a link with an unfinished quote lists all deliveries, those that arrive later too", async () => {
    await bench.deliver({ type: "email.sent" });
    await rows().first().waitFor();
    await page.goto(`${bench.pageUrl}#/deliveries?${new URLSearchParams({ q: '"Your order' }).toString()}`);
    await page.reload();
    await page.getByRole("alert").getByText("Below are all deliveries.").waitFor();
    await expect.poll(() => rows().count()).toBe(1);
    await bench.deliver({ type: "email.sent" });
    await expect.poll(() => rows().count()).toBe(2);
  });

  test.each(["Enter", "Escape", "Tab"])("the completions of the search close at %s, and open again", async (key) => {
    await bench.deliver();
    await rows().first().waitFor();
    const box = page.getByRole("combobox", { name: "Search deliveries" });
    const offers = page.getByRole("listbox", { name: "Completions" });
    await box.click();
    await offers.waitFor();
    await box.pressSequentially("status:2");
    await page.getByRole("option", { name: "status:2xx" }).waitFor();
    await box.press(key);
    await expect.poll(() => offers.isVisible()).toBe(false);
    await box.click();
    await box.press("Backspace");
    await box.press("ArrowDown");
    await offers.waitFor();
  });

  test("the list of deliveries replays, pins, exports and deletes the chosen deliveries", async () => {
    for (const type of ["email.sent", "email.failed", "email.queued"] as const) await bench.deliver({ type });
    await rows().nth(2).waitFor();
    const boxes = rows().getByRole("checkbox");
    await boxes.nth(0).click();
    await boxes.nth(2).click({ modifiers: ["Shift"] });
    await page.getByRole("button", { name: "Replay (3)" }).click();
    await page.getByText(/^Replayed 3: 200 duplicate · .*Not run: the receiver has this id$/).waitFor();
    await expect.poll(async () => (await rows().allInnerTexts()).every((text) => /\b2\b/.test(text))).toBe(true);

    const bar = page.getByRole("toolbar", { name: "Chosen deliveries" });
    await bar.getByRole("button", { name: "Pin" }).click();
    await expect.poll(() => page.locator(".pinned").count()).toBe(3);

    await bar.getByRole("button", { name: "Export" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: /NDJSON/ }).click(),
    ]);
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { event: { type: string } }).event.type).toSorted()).toEqual([
      "email.failed",
      "email.queued",
      "email.sent",
    ]);

    await boxes.nth(1).click();
    await bar.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => bench.dev.captures.size).toBe(1);
    expect(bench.dev.captures.list().map(({ event }) => event.type)).toEqual(["email.failed"]);
  });

  test("the list of deliveries says when the dev server has stopped, and how to reconnect to one with another token", async () => {
    await page.getByText("live", { exact: true }).first().waitFor();
    await bench.dev.close();
    await page.getByText("lost, trying again").waitFor();
    await bench.restart();
    await page.getByText("live", { exact: true }).first().waitFor();
    await bench.deliver({ type: "email.sent" });
    await rows().first().waitFor();
    await bench.dev.close();
    await page.getByText("lost, trying again").waitFor();
    await bench.restart({ isTokenKept: false });
    await page.getByText("This browser is not signed in").waitFor();
    await page.goto(bench.dev.pageUrl ?? "");
    await page.getByText("live", { exact: true }).first().waitFor();
    // What the browser notes of requests that nobody answered.
    problems.length = 0;
  });
});
