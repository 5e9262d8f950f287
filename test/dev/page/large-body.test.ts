import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, mustSkipBrowserTests, openPage } from "./browser.js";
import { captureLargeBodies, LARGE_BODIES, LARGE_ROWS } from "./large-bodies.js";
import { startWorkbench, type Workbench } from "./workbench.js";

describe.skipIf(mustSkipBrowserTests())("a body of 5 MB", () => {
  let browser: Browser;
  let bench: Workbench;

  beforeAll(async () => {
    browser = await launchBrowser();
    bench = await startWorkbench({ captures: captureLargeBodies() });
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await bench.close();
  });

  // Times differ between machines; what costs time is what the browser must lay out.
  test.each(Object.keys(LARGE_BODIES).map((name, index) => [name, index] as const))(
    "every tab shows the beginning of %s only",
    { timeout: 60_000 },
    async (_, index) => {
      const { page, problems, close } = await openPage(browser, bench.pageUrl);
      await page.locator(".list-window .row").nth(index).click();
      await page.getByRole("tabpanel").waitFor();
      for (const tab of ["Headers", "Raw", "Answer", "Handlers", "Attempts", "Signature", "Payload"]) {
        await page.getByRole("tab", { name: tab }).click();
        await expect.poll(() => page.getByRole("tabpanel").getAttribute("aria-label")).toBe(tab.toLowerCase());
        const [elements = 0, characters = 0] = await page.evaluate<number[]>(`(() => {
          const panel = document.querySelector("[role=tabpanel]");
          return [panel.querySelectorAll("*").length, panel.textContent.length];
        })()`);
        // Of a tree at most 400 lines, of at most ten elements each, and the tab's own.
        expect(elements, tab).toBeLessThan(tab === "Payload" ? 4100 : 1000);
        expect(characters, tab).toBeLessThan(70_000);
      }
      expect(problems).toEqual([]);
      await close();
    },
  );

  test.each(["numbers", "short lists", "short names"])(
    "the page keeps no value of %s that it does not show",
    { timeout: 60_000 },
    async (name) => {
      const { page, close } = await openPage(browser, bench.pageUrl);
      const row = page.locator(".list-window .row").nth(Object.keys(LARGE_BODIES).indexOf(name));
      await row.waitFor();
      const cdp = await page.context().newCDPSession(page);
      const readHeap = async () => {
        await cdp.send("HeapProfiler.collectGarbage");
        return (await cdp.send("Runtime.getHeapUsage")).usedSize;
      };
      const before = await readHeap();
      await row.click();
      await page.keyboard.press("1");
      await page.getByRole("tree", { name: "Payload" }).waitFor();
      // The body as received and where its parts end: a value for each of the numbers would be hundreds.
      expect((await readHeap()) - before).toBeLessThan(40_000_000);
      await close();
    },
  );

  test("no tab parses the whole body", { timeout: 60_000 }, async () => {
    const { page, close } = await openPage(browser, bench.pageUrl);
    await page.evaluate(`(() => {
      const { parse } = JSON;
      window.parsed = 0;
      JSON.parse = (text, ...rest) => (text.length > 1e6 && (window.parsed += 1), parse(text, ...rest));
    })()`);
    await page.evaluate('location.hash = "#/deliveries?tab=headers"');
    await page.locator(".list-window .row").nth(2).click();
    for (const tab of ["Headers", "Raw", "Answer", "Handlers", "Attempts", "Signature"]) {
      await page.getByRole("tab", { name: tab }).click();
      await expect.poll(() => page.getByRole("tabpanel").getAttribute("aria-label")).toBe(tab.toLowerCase());
    }
    expect(await page.evaluate("window.parsed")).toBe(0);
    await page.getByRole("tab", { name: "Payload" }).click();
    await page.getByRole("tree", { name: "Payload" }).waitFor();
    // It finds where the values are, and makes those that it shows.
    expect(await page.evaluate("window.parsed")).toBe(0);
    await close();
  });

  test("the lines in sight are drawn first, and a tab that is shown again reads no body again", async () => {
    const { page, close } = await openPage(browser, bench.pageUrl);
    await page.evaluate(`(() => {
      new MutationObserver(() => {
        const { length } = document.querySelectorAll("[role=treeitem]");
        if (length > 0) window.firstLines ??= length;
      }).observe(document, { childList: true, subtree: true });
    })()`);
    await page.locator(".list-window .row").nth(Object.keys(LARGE_BODIES).indexOf("numbers")).click();
    await page.keyboard.press("1");
    const lines = page.getByRole("tree", { name: "Payload" }).getByRole("treeitem");
    await expect.poll(() => lines.count()).toBe(400);
    expect(await page.evaluate("window.firstLines")).toBe(60);
    await page.getByRole("tab", { name: "Headers" }).click();
    await page.evaluate(`(() => {
      const { charCodeAt } = String.prototype;
      window.looks = 0;
      String.prototype.charCodeAt = function (at) {
        window.looks += 1;
        return charCodeAt.call(this, at);
      };
    })()`);
    await page.getByRole("tab", { name: "Payload" }).click();
    await lines.first().waitFor();
    expect(await page.evaluate("window.looks")).toBeLessThan(100_000);
    await close();
  });

  test("a list of many values is counted, and unfolded from its beginning", { timeout: 60_000 }, async () => {
    const { page, close } = await openPage(browser, bench.pageUrl);
    await page.locator(".list-window .row").first().click();
    await page.keyboard.press("1");
    const tree = page.getByRole("tree", { name: "Payload" });
    const list = tree.getByRole("treeitem").filter({ hasText: `[ ${LARGE_ROWS} ]` });
    await list.getByRole("button", { name: "Unfold" }).click();
    const second = tree.getByRole("treeitem", { level: 3 }).nth(1);
    await second.getByRole("button", { name: "Unfold" }).click();
    await tree.getByText('"the row with the number 1"', { exact: true }).waitFor();
    expect(await tree.getByRole("treeitem").count()).toBe(400);
    await page.getByRole("button", { name: "Show more lines" }).click();
    await expect.poll(() => tree.getByRole("treeitem").count()).toBe(2400);
    await close();
  });
});
