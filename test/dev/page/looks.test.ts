import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, mustSkipBrowserTests, openPage, type OpenPage } from "./browser.js";
import { FIND_CUT_OFF, FIND_FAINT_TEXT, FIND_OVERLAPS } from "./find-looks.js";
import { startWorkbench, type Workbench } from "./workbench.js";

describe.skipIf(mustSkipBrowserTests())("the page's appearance", () => {
  let browser: Browser;
  let bench: Workbench;

  beforeAll(async () => {
    browser = await launchBrowser();
    bench = await startWorkbench({ hasSandbox: true });
    bench.sandbox?.faults.deliveries.add({ fault: { kind: "drop" }, types: "form.*" });
    await bench.deliver({ type: "email.bounced" });
    await bench.deliver({ type: "email.opened" });
    await bench.deliver({ type: "email.sent", variant: "stale" });
    await bench.deliver({ type: "email.sent", variant: "wrong-secret" });
    bench.answerWith({ status: 500, body: '{"error":"boom"}' });
    await bench.deliver({ type: "email.failed", data: { count: 3, ok: true, none: null } });
    bench.answerWith({ status: 422, body: "no" });
    await bench.deliver({ type: "domain.sending_changed" });
    bench.answerWith(null);
  });

  afterAll(async () => {
    await browser.close();
    await bench.close();
  });

  /** Visits every view and calls back on each. */
  async function visit({ page }: OpenPage, look: (place: string) => Promise<void>): Promise<void> {
    await page.locator(".list-window .row").first().waitFor();
    await look("list");
    await page.locator(".list-window .row").nth(2).click();
    for (const key of ["1", "2", "3", "4", "5", "6", "7"]) {
      await page.keyboard.press(key);
      await page.waitForTimeout(60);
      await look(`tab ${key}`);
    }
    for (const key of ["R", "t"]) {
      await page.keyboard.press(key);
      await page.getByRole("dialog").waitFor();
      await look(`dialog of ${key}`);
      await page.keyboard.press("Escape");
    }
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await look("two chosen");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await look("keys");
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await page.getByRole("textbox", { name: "Envelope of the event" }).waitFor();
    await look("send");
    await page.getByRole("button", { name: "Outbox" }).click();
    await page.getByRole("table", { name: "Contact events" }).getByRole("button").first().click();
    await page.getByRole("region", { name: "Contact event", exact: true }).waitFor();
    await look("contact event");
    await page.getByRole("button", { name: "Sandbox" }).click();
    await page.getByRole("region", { name: "Faults" }).getByRole("listitem").waitFor();
    await look("sandbox");
  }

  test.each(["light", "dark"] as const)("every text is readable in %s", async (colorScheme) => {
    const open = await openPage(browser, bench.pageUrl, { colorScheme });
    const faint: string[] = [];
    await visit(open, async (place) => {
      const found = await open.page.evaluate<string[]>(FIND_FAINT_TEXT);
      faint.push(...found.map((text) => `${place}: ${text}`));
    });
    expect(faint).toEqual([]);
    expect(open.problems).toEqual([]);
    await open.close();
  });

  test("the colours follow the system's light or dark setting", async () => {
    const ground = async (colorScheme: "light" | "dark") => {
      const open = await openPage(browser, bench.pageUrl, { colorScheme });
      await open.page.locator(".main").waitFor();
      const colour = await open.page.evaluate("getComputedStyle(document.querySelector('.main')).backgroundColor");
      await open.close();
      return colour;
    };
    expect([await ground("light"), await ground("dark")]).toEqual(["rgb(255, 255, 255)", "rgb(25, 28, 32)"]);
  });

  test.each(process.env["VISITS"] === "all" ? [400, 700, 1024, 1280, 1920] : [400, 1280])(
    "nothing is cut off at %i pixels",
    async (width) => {
      const open = await openPage(browser, bench.pageUrl, { viewport: { width, height: 720 } });
      const cut: string[] = [];
      await visit(open, async (place) => {
        const found = [
          ...(await open.page.evaluate<string[]>(FIND_CUT_OFF)),
          ...(await open.page.evaluate<string[]>(FIND_OVERLAPS)),
        ];
        cut.push(...found.map((what) => `${place}: ${what}`));
      });
      expect(cut).toEqual([]);
      await open.close();
    },
  );

  test("the open delivery covers the list until it is closed, if there is no room for two panes", async () => {
    const { page, close } = await openPage(browser, bench.pageUrl, { viewport: { width: 700, height: 720 } });
    await page.locator(".list-window .row").nth(1).click();
    const detail = page.getByRole("region", { name: "Delivery" });
    await detail.waitFor();
    await expect.poll(async () => (await detail.boundingBox())?.width).toBe(620);
    await page.keyboard.press("j");
    await page.getByRole("button", { name: "Close" }).click();
    const row = page.locator(".list-window .row").nth(2);
    await expect.poll(async () => (await row.boundingBox())?.width).toBe(620);
    await expect.poll(() => row.getAttribute("class")).toContain("cursor");
    await close();
  });
});
