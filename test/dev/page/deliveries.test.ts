import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { seeText } from "./browser.js";
import { describeBench } from "./workbench.js";

describeBench("the list of deliveries", {}, ({ bench, page, rows, problems }) => {
  const box = () => page.getByRole("combobox", { name: "Search deliveries" });
  const scrollTop = () => page.evaluate("document.querySelector('.dash-list').scrollTop");
  const scrollTo = (top: number) => page.evaluate(`document.querySelector('.dash-list').scrollTop = ${top}`);
  test("the list of deliveries starts empty and says where to send deliveries, and how to make one", async () => {
    await page.getByRole("heading", { name: "Waiting for the first delivery" }).waitFor();
    await seeText(page.locator(".empty").getByRole("button", { name: "Copy the receiving URL" }), bench.dev.captureUrl);
    await page.getByRole("button", { name: /Send a sample event/ }).click();
    await page.getByRole("navigation", { name: "Event types" }).waitFor();
  });

  test("the list of deliveries does not move what is being read when deliveries arrive", async () => {
    for (let n = 0; n < 60; n += 1) await bench.deliver({ data: { subject: `number ${n}` } });
    await page.getByText("60 deliveries", { exact: true }).first().waitFor();
    const topmost = () =>
      page.evaluate("document.elementFromPoint(600, 300).closest('[data-row]').querySelector('.subject').textContent");
    const atTheTop = await topmost();
    await scrollTo(400);
    await expect.poll(topmost).not.toBe(atTheTop);
    const before = await topmost();
    for (let n = 0; n < 3; n += 1) await bench.deliver({ data: { subject: `late ${n}` } });
    await page.getByText("late 2").waitFor();
    expect(await topmost()).toBe(before);
    await page.keyboard.press("Home");
    await expect.poll(() => rows.first().innerText()).toContain("late 2");
  });

  test("the list of deliveries starts at its top after another search", async () => {
    for (let n = 0; n < 60; n += 1) await bench.deliver({ type: n % 2 === 0 ? "email.sent" : "email.queued" });
    await page.getByText("60 deliveries", { exact: true }).first().waitFor();
    await scrollTo(400);
    const count = page.locator(".strip-count");
    await box().fill("type:email.sent ");
    await seeText(count, "30 of 60 deliveries");
    expect(await scrollTop()).toBe(0);
    await scrollTo(200);
    await box().fill("");
    await seeText(count, "60 deliveries");
    expect(await scrollTop()).toBe(0);
  });

  test("the list of deliveries is searched with completion and a query in the address bar", async () => {
    await bench.deliver({ type: "email.bounced", variant: "missing" });
    for (const type of ["email.sent", "file.uploaded"] as const) await bench.deliver({ type });
    await rows.nth(2).waitFor();
    await box().fill("ver");
    await page.getByRole("option", { name: /verdict:/ }).click();
    await page.getByRole("option", { name: "verdict:bad" }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await box().inputValue()).toBe("verdict:bad ");
    await expect.poll(() => decodeURIComponent(page.url())).toContain("q=verdict:bad");

    // A new delivery that does not match stays away; one that does comes in.
    await bench.deliver({ type: "email.opened" });
    await bench.deliver({ type: "email.clicked", variant: "stale" });
    await expect.poll(() => rows.count()).toBe(2);

    await box().press("Escape");
    await box().pressSequentially("type:email.* receipt");
    await expect.poll(() => decodeURIComponent(page.url())).toContain("q=type:email.*+receipt");
    await page.reload();
    await expect.poll(() => box().inputValue()).toBe("type:email.* receipt");
    // In front of what is there.
    await box().press("Home");
    await box().pressSequentially("-verdict:bad ");
    await expect.poll(() => decodeURIComponent(page.url())).toContain("q=-verdict:bad+type:email.*+receipt");
    // Completions are of the term at the caret, wherever it goes.
    await box().fill("verdict:b type:email");
    await page.getByRole("option", { name: "type:email.sent" }).waitFor();
    for (let n = 0; n < 12; n += 1) await box().press("ArrowLeft");
    await page.getByRole("option", { name: "verdict:bad" }).waitFor();
  });

  test("the list of deliveries takes a quoted value key by key, and searches for none that is unfinished", async () => {
    for (const subject of ["Invoice 2041", 'The "blue" order']) await bench.deliver({ data: { subject } });
    await rows.nth(1).waitFor();
    await box().pressSequentially('data.subject:"Invoice 2041"');
    await expect.poll(() => rows.count()).toBe(1);
    await box().fill("");
    await expect.poll(() => rows.count()).toBe(2);
    // Enter ends the quote.
    await box().pressSequentially('data.subject:"The \\"blue\\" order');
    expect(page.url()).not.toContain("data.subject");
    await box().press("Enter");
    expect(await box().inputValue()).toBe('data.subject:"The \\"blue\\" order"');
    await expect.poll(() => rows.count()).toBe(1);
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("a link with an unfinished quote lists all deliveries, those that arrive later too", async () => {
    await bench.deliver({ type: "email.sent" });
    await rows.first().waitFor();
    await page.goto(`${bench.pageUrl}#/deliveries?${new URLSearchParams({ q: '"Your order' }).toString()}`);
    await page.reload();
    await page.getByRole("alert").getByText("Below are all deliveries.").waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await bench.deliver({ type: "email.sent" });
    await expect.poll(() => rows.count()).toBe(2);
  });

  test.each(["Enter", "Escape", "Tab"])("the completions of the search close at %s, and open again", async (key) => {
    await bench.deliver();
    await rows.first().waitFor();
    const offers = page.getByRole("listbox", { name: "Completions" });
    await box().click();
    await offers.waitFor();
    await box().pressSequentially("status:2");
    await page.getByRole("option", { name: "status:2xx" }).waitFor();
    await box().press(key);
    await expect.poll(() => offers.isVisible()).toBe(false);
    await box().click();
    await box().press("Backspace");
    await box().press("ArrowDown");
    await offers.waitFor();
  });

  test("the list of deliveries replays, pins, exports and deletes the chosen deliveries", async () => {
    for (const type of ["email.sent", "email.failed", "email.queued"] as const) await bench.deliver({ type });
    await rows.nth(2).waitFor();
    const boxes = rows.getByRole("checkbox");
    await boxes.nth(0).click();
    await boxes.nth(2).click({ modifiers: ["Shift"] });
    await page.getByRole("button", { name: "Replay (3)" }).click();
    await page.getByText(/^Replayed 3: 200 duplicate · .*Not run: the receiver has this id$/).waitFor();
    await expect.poll(async () => (await rows.allInnerTexts()).every((text) => /\b2\b/.test(text))).toBe(true);

    const bar = page.getByRole("toolbar", { name: "Chosen deliveries" });
    await bar.getByRole("button", { name: "Pin" }).click();
    await expect.poll(() => page.locator(".pinned").count()).toBe(3);

    await bar.getByRole("button", { name: "Export" }).click();
    const downloaded = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: /NDJSON/ }).click();
    const file = await downloaded;
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\n");
    const types = lines.map((line) => (JSON.parse(line) as { event: { type: string } }).event.type);
    expect(types.toSorted()).toEqual(["email.failed", "email.queued", "email.sent"]);

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
    await rows.first().waitFor();
    await bench.dev.close();
    await page.getByText("lost, trying again").waitFor();
    await bench.restart({ isTokenKept: false });
    await page.getByText("This browser is not signed in").waitFor();
    await page.goto(bench.dev.pageUrl ?? "");
    await page.getByText("live", { exact: true }).first().waitFor();
    // What the browser notes of requests that nobody answered.
    problems().length = 0;
  });
});
