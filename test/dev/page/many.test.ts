import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import { EVENT_TYPES } from "#pigeonhole/protocol/event-types.js";
import { sampleEvent } from "#pigeonhole/sandbox/samples/sample-event.js";
import { launchBrowser, mustSkipBrowserTests, openPage } from "./browser.js";
import { startWorkbench, type Workbench } from "./workbench.js";

const MANY = 10_000;

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

  test("the list of 10,000 captures draws a part of them and more when asked, and stays live", async () => {
    const { page, problems, close } = await openPage(browser, bench.pageUrl);
    const rows = page.locator(".list-side [data-row]");
    await rows.first().waitFor();
    await expect.poll(() => page.locator(".strip-count").innerText()).toBe("10,000");
    expect(await rows.count()).toBe(200);
    expect(await page.locator(".time-bar").count()).toBeLessThanOrEqual(61);

    await page.keyboard.press("End");
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBe(400);
    await page.keyboard.press("Home");
    await bench.deliver({ data: { subject: "The newest one" } });
    await page.getByText("The newest one").waitFor();
    await expect.poll(() => page.locator(".strip-count").innerText()).toBe("10,001");
    expect(problems).toEqual([]);
    await close();
  }, 60_000);

  test("the list of 10,000 captures is searched while the user types", async () => {
    const { page, close } = await openPage(browser, bench.pageUrl);
    await page.locator(".list-side [data-row]").first().waitFor();
    await page.getByRole("combobox").fill("data.n:4711 ");
    await expect.poll(() => page.locator(".list-side [data-row]").count(), { interval: 20 }).toBe(1);
    await close();
  }, 30_000);
});
