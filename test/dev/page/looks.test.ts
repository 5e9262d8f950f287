import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, mustSkipBrowserTests, openPage, type OpenPage } from "./browser.js";
import { FIND_CUT_OFF, FIND_FAINT_TEXT, FIND_OVERLAPS } from "./find-looks.js";
import { startWorkbench, type Workbench } from "./workbench.js";

/** Of two colours as `rgb(r, g, b)`; WCAG asks 3 : 1 of the border of a control. */
function contrast(a: string, b: string): number {
  const lights = [a, b].map((colour) => {
    const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  });
  return Math.max(...lights) / Math.min(...lights);
}

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
    await page.keyboard.press("d");
    await page.getByRole("heading", { name: "Compare two deliveries" }).waitFor();
    await page.waitForTimeout(150);
    await look("comparison");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await look("keys");
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await page.getByRole("textbox", { name: "Envelope of the event" }).waitFor();
    await look("send");
    await page.getByRole("button", { name: "Inbox" }).click();
    await page.getByRole("table", { name: "Events" }).getByRole("button").first().click();
    await page.locator(".handler").first().waitFor();
    await look("inbox");
    // Over the counts in a narrow window.
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("region", { name: "Contact events" }).getByRole("button", { name: "1 all" }).click();
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

  test.each(["light", "dark"] as const)("a box that is not ticked is empty, not grey, in %s", async (colorScheme) => {
    const { page, close } = await openPage(browser, bench.pageUrl, { colorScheme });
    await page.locator(".list-window .row").first().waitFor();
    const colours = await page.evaluate<[string, string, string]>(`(() => {
      const { backgroundColor, borderTopColor } = getComputedStyle(document.querySelector(".row.head input"));
      return [backgroundColor, getComputedStyle(document.querySelector(".row.head")).backgroundColor, borderTopColor];
    })()`);
    expect(colours[0]).toBe(colours[1]);
    expect(contrast(colours[2], colours[0])).toBeGreaterThan(3);
    await close();
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

  test.each([
    [390, ".detail-title h2"],
    [390, ".detail-title > [aria-label=Close]"],
    [390, "[role=tab][aria-selected=true]"],
    [1440, ".row.head .work"],
  ])("an open delivery with handlers leaves room at %i pixels for %s", async (width, part) => {
    const { page, close } = await openPage(browser, bench.pageUrl, { viewport: { width, height: 720 } });
    await page.locator(".list-window .row").last().click();
    await page.keyboard.press("5");
    await page.locator(".handler").first().waitFor();
    const box = () =>
      page.evaluate<[number, number]>(`(() => {
        const part = document.querySelector(${JSON.stringify(part)});
        const room = part.closest(".list, .detail").getBoundingClientRect();
        const { left, right, width } = part.getBoundingClientRect();
        return [Math.min(left - room.left, room.right - right), width];
      })()`);
    await expect.poll(async () => Math.min(...(await box()))).toBeGreaterThanOrEqual(0);
    expect((await box())[1]).toBeGreaterThan(20);
    await close();
  });

  test.each([
    [1440, false],
    [1440, true],
    [1280, false],
    [1280, true],
    [390, false],
  ])(
    "the words of outcomes and handlers stay in the list at %i pixels, with an open delivery: %s",
    async (width, isOpen) => {
      const { page, close } = await openPage(browser, bench.pageUrl, { viewport: { width, height: 720 } });
      const last = page.locator(".list-window .row").last();
      await expect.poll(() => last.locator(".cell.work").innerText()).toContain("dead");
      if (isOpen) {
        await last.click();
        await page.getByRole("region", { name: "Delivery" }).waitFor();
      }
      const words = await page.evaluate<
        [string, boolean][]
      >(`[".answer .outcome", ".work .badge-word"].flatMap((part) =>
      [...document.querySelectorAll(".list-window .row " + part)].map((word) => {
        const [inner, outer] = [word, word.closest(".cell")].map((element) => element.getBoundingClientRect());
        return [word.textContent.trim(), inner.width > 1 && inner.left >= outer.left && inner.right <= outer.right];
      }))`);
      const expected = ["unverified", "accepted", "dead", "done"];
      expect(words.map(([word]) => word)).toEqual(expect.arrayContaining(expected));
      expect(words.filter(([, isWhole]) => !isWhole)).toEqual([]);
      const type = await page.evaluate<number>("document.querySelector('.list-window .type').clientWidth");
      expect(type).toBeGreaterThan(100);
      await close();
    },
  );

  test.each([1440, 1280, 1150])(
    "a handler that runs again has its next time in the list at %i pixels",
    async (width) => {
      const own = await startWorkbench();
      await own.deliver({ type: "email.complained" });
      const { page, close } = await openPage(browser, own.pageUrl, { viewport: { width, height: 720 } });
      const detail = page.locator(".list-window .work-detail");
      await expect.poll(() => detail.innerText()).toMatch(/of 4, next \d\d:\d\d:\d\d$/);
      const [hidden, end, cellEnd] = await page.evaluate<[number, number, number]>(`(() => {
      const detail = document.querySelector(".list-window .work-detail");
      const [inner, outer] = [detail, detail.closest(".cell")].map((element) => element.getBoundingClientRect());
      return [detail.scrollWidth - detail.clientWidth, inner.right, outer.right];
    })()`);
      expect(hidden).toBe(0);
      expect(end).toBeLessThanOrEqual(cellEnd);
      await close();
      await own.close();
    },
  );

  test("a delivery has its time, short name, type and a part of its subject in sight at 390 pixels", async () => {
    const { page, close } = await openPage(browser, bench.pageUrl, { viewport: { width: 390, height: 720 } });
    await expect
      .poll(() => page.locator(".list-window .row").last().locator(".cell.work").innerText())
      .toContain("dead");
    const rows = await page.evaluate<({ subject: number } & Record<string, unknown>)[]>(`(() => {
      const readRow = (row) => {
        const cells = [...row.querySelectorAll(".cell")].filter((cell) => cell.clientWidth > 0);
        const boxes = cells.map((cell) => cell.getBoundingClientRect());
        const room = row.getBoundingClientRect();
        const isIn = (box) => box.left >= room.left && box.right <= room.right && box.bottom <= room.bottom;
        const isCut = (cell, index) => cell.scrollWidth > cell.clientWidth || !isIn(boxes[index]);
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        const namesOf = (wanted) => cells.filter(wanted).map((cell) => cell.className);
        return {
          cut: namesOf((cell, index) => !cell.matches(".subject") && isCut(cell, index)),
          overlapping: namesOf((_, a) => boxes.some((box, b) => a < b && meet(boxes[a], box))),
          missing: ["time", "handle", "type"].filter((name) => !cells.some((cell) => cell.matches("." + name))),
          subject: row.querySelector(".subject").clientWidth,
          height: room.height,
        };
      };
      return [...document.querySelectorAll(".list-window .row")].map(readRow);
    })()`);
    expect(rows.length).toBeGreaterThan(5);
    for (const { subject, ...row } of rows) {
      expect(row).toEqual({ cut: [], overlapping: [], missing: [], height: 54 });
      expect(subject).toBeGreaterThan(60);
    }
    await close();
  });

  test.each([
    ["Events", "", ["received", "name", "state", "error"]],
    ["Contact events", "contact-events", ["received", "name", "contact", "state", "error"]],
  ])("%s of the inbox have all that matters in sight at 390 pixels", async (name, show, parts) => {
    const { page, close } = await openPage(browser, bench.pageUrl, { viewport: { width: 390, height: 720 } });
    await page.evaluate(`location.hash = "#/inbox?state=dead&show=${show}"`);
    const row = page.getByRole("table", { name, exact: true }).locator("tbody tr");
    await row.waitFor();
    for (const part of parts) {
      const box = await row.locator(`[class^=${part}]`).boundingBox();
      expect(box?.width, part).toBeGreaterThan(40);
      expect((box?.x ?? 0) + (box?.width ?? 0), part).toBeLessThanOrEqual(390);
    }
    await close();
  });

  test("each event type of the list can be read whole at 390 pixels", async () => {
    const own = await startWorkbench();
    const types = ["email.delivered", "email.delivery_delayed", "email.complained"] as const;
    for (const type of types) await own.deliver({ type });
    const { page, close } = await openPage(browser, own.pageUrl, { viewport: { width: 390, height: 720 } });
    const cells = page.locator(".list-window .cell.type");
    await expect.poll(() => cells.allTextContents()).toEqual(types.toReversed());
    const sizes = await page.evaluate<
      number[][]
    >(`[...document.querySelectorAll(".list-window .cell.type")].map((cell) =>
      [cell.scrollWidth - cell.clientWidth, cell.scrollHeight - cell.clientHeight, cell.clientHeight > 32])`);
    expect(sizes).toEqual(types.map(() => [0, 0, false]));
    await close();
    await own.close();
  });

  test("the button that sends is as high as others in a narrow and low window", async () => {
    const { page, close } = await openPage(browser, bench.pageUrl, { viewport: { width: 390, height: 600 } });
    await page.keyboard.press("n");
    const heightOf = async (name: RegExp) => (await page.getByRole("button", { name }).boundingBox())?.height ?? 0;
    await page.getByRole("button", { name: /^Send Ctrl/ }).waitFor();
    expect(await heightOf(/^Send Ctrl/)).toBeGreaterThanOrEqual(await heightOf(/^New sample/));
    await close();
  });

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
