import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import { EVENT_TYPES } from "#pigeonhole/protocol/event-types.js";
import { sampleEvent } from "#pigeonhole/sandbox/samples/sample-event.js";
import { launchBrowser, mustSkipBrowserTests, openPage } from "./browser.js";
import { startWorkbench, type Workbench } from "./workbench.js";

const MANY = 10_000;

/**
 * Scrolls down by steps, a frame each; returns after each step the rows that are drawn, and whether they fill the
 * window.
 */
const SCROLL = `new Promise((resolve) => {
  const list = document.querySelector("#captures");
  const seen = [];
  const step = () => {
    const box = list.getBoundingClientRect();
    const rows = [...document.querySelectorAll(".list-window .row")];
    const at = (y) => document.elementFromPoint(box.left + box.width / 2, y)?.closest(".row") ?? null;
    seen.push({ drawn: rows.length, isFilled: at(box.top + box.height / 2) !== null && at(box.bottom - 20) !== null });
    if (seen.length === 40) return resolve(seen);
    list.scrollTop += 4000;
    // The list is drawn again in the frame after the scrolling.
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(step)));
  };
  step();
})`;

function makeCaptures(): Capture[] {
  const now = Date.now();
  return Array.from({ length: MANY }, (_, n) =>
    captureRequest({
      request: {
        method: "POST",
        path: "/webhooks",
        headers: [["Content-Type", "application/json"]],
        body: Buffer.from(JSON.stringify(sampleEvent(EVENT_TYPES[n % EVENT_TYPES.length] ?? "email.sent", { n }))),
      },
      receivedAt: now - n * 1000,
      source: "live",
      secrets: [],
    }),
  );
}

describe.skipIf(mustSkipBrowserTests())("10,000 captures", () => {
  let browser: Browser;
  let bench: Workbench;

  beforeAll(async () => {
    browser = await launchBrowser();
    bench = await startWorkbench({ captures: makeCaptures() });
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await bench.close();
  });

  test("the list of 10,000 captures draws only the visible rows, scrolls without gaps, and stays live", async () => {
    const { page, problems, close } = await openPage(browser, bench.pageUrl);
    await page.locator(".list-window .row").first().waitFor();
    await expect.poll(() => page.locator(".strip-count").innerText()).toBe("10,000");
    const seen = await page.evaluate<{ drawn: number; isFilled: boolean }[]>(SCROLL);
    expect(Math.max(...seen.map(({ drawn }) => drawn))).toBeLessThan(100);
    expect(seen.filter(({ isFilled }) => !isFilled)).toEqual([]);

    expect(
      await page
        .getByRole("listbox", { name: /^Times/ })
        .getByRole("option")
        .count(),
    ).toBeLessThanOrEqual(61);

    await page.keyboard.press("End");
    await page.getByRole("row").filter({ hasText: "email" }).first().waitFor();
    await expect.poll(() => page.locator(".row.cursor").getAttribute("aria-rowindex")).toBe(String(MANY + 1));
    await page.keyboard.press("Home");
    await bench.deliver({ data: { subject: "The newest one" } });
    await page.getByText("The newest one").waitFor();
    await expect.poll(() => page.locator(".strip-count").innerText()).toBe("10,001");
    expect(problems).toEqual([]);
    await close();
  }, 60_000);

  test("the list of 10,000 captures is searched while the user types", async () => {
    const { page, close } = await openPage(browser, bench.pageUrl);
    await page.locator(".list-window .row").first().waitFor();
    await page.getByRole("combobox").fill("data.n:4711 ");
    await expect.poll(() => page.locator(".list-window .row").count(), { interval: 20 }).toBe(1);
    await close();
  }, 30_000);
});
