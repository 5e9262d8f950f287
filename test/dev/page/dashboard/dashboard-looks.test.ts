import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "../browser.js";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import { FIND_CUT_OFF, FIND_OVERLAPS, FIND_WIDENED, lookAt } from "../find-looks.js";
import { expectNoMarkup, mark, seeMarks } from "../marks.js";
import { type DashboardBench, startDashboardBench } from "./dashboard-bench.js";
import { reportRun, writeExampleFigures } from "./example-figures.js";
import { writeRuns } from "../../../support/ended-runs.js";

/** In which widths axe-core looks by all rules; the eye looks in all. A wide window has what one of 1280 has. */
const VISITS = [
  [1440, false],
  [1280, true],
  [390, true],
] as const;

const LONG_NAME = "a_handler_with_a_very_long_name_".repeat(6);

/** Parts of tables and of the page's top that stick out of the window. */
const FIND_CUT_CELLS = `[...document.querySelectorAll("td, th, select, .banner *, .top *, .tag")]
  .filter((part) => part.checkVisibility() && part.closest("thead, .unseen") === null)
  .filter((part) => part.getBoundingClientRect().right > innerWidth + 1)
  .map((part) => "cut: " + part.textContent.slice(0, 80))`;

describeInBrowser("the dashboard's appearance", (open) => {
  let bench: DashboardBench;
  let [id, waiting, tracked, behind] = ["", "", "", ""];

  beforeAll(async () => {
    bench = await startDashboardBench({
      payloads: "full",
      failure: `${mark("error")} \u202eevil\u001b[31m ${"long".repeat(250_000)}`,
    });
    id = await bench.deliver("email.bounced", { subject: mark("subject") });
    await bench.deliver("email.bounced");
    waiting = await bench.deliver("email.complained");
    await bench.deliverBody("{not JSON");
    tracked = await bench.deliverTried("email.opened");
    bench.apiFaults.push({ status: 503, retryAfter: "600" });
    await bench.deliverTried("email.opened");
    behind = await bench.deliver("email.opened");
    await writeExampleFigures(bench.receiver, { spanMs: 120_000, everyMs: 10_000 });
    const { store } = partsOf(bench.receiver).options;
    await writeRuns(store, [{ handler: LONG_NAME, outcome: "done", fromMs: 1, runs: 1 }], Date.now());
    await store.openOperator(Date.now).pauseHandler(LONG_NAME, "ann");
  });

  afterAll(() => bench.close());

  /** Every view, with what must be there before it is looked at. */
  async function visit(page: Page, look: (place: string) => Promise<void>): Promise<void> {
    const places = [
      ["overview", "canvas"],
      ["errors", ".group"],
      ["work", "[data-row]"],
      ["work?show=running", "[data-row]"],
      ["work?show=handlers", "[data-row]"],
      [`event?id=${id}`, ".timeline"],
      [`event?id=${tracked}`, ".timeline-link"],
      [`event?id=${behind}`, ".waits-behind"],
      ["outbox", "[data-row]"],
    ] as const;
    for (const [hash, part] of places) {
      // What a process reports is forgotten a minute after its last report.
      const run = { handler: LONG_NAME, eventId: id, since: Date.now() - 125_000 };
      if (hash === "work?show=running") await reportRun(bench.receiver, run);
      await go(page, hash, part);
      if (hash === "errors") await page.locator("summary").first().click();
      if (hash === "outbox") await page.locator("[data-row] button").last().click();
      await look(hash);
    }
  }

  async function go(page: Page, hash: string, part: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${hash}`)}`);
    await page.locator(part).first().waitFor();
  }

  /** What is open for a moment, and what the page says where there is nothing. */
  async function visitMoments(page: Page, look: (place: string) => Promise<void>): Promise<void> {
    await go(page, "outbox", "[data-row]");
    await page.locator("[data-row] button").first().click();
    await page.locator(".detail .waits-behind").waitFor();
    await look("a contact event behind another");
    await go(page, `event?id=${waiting}`, ".timeline");
    await page.getByRole("button", { name: /^Export/ }).click();
    await look("menu");
    await page.keyboard.press("Escape");
    await go(page, "work?state=dead", "[data-row]");
    const discard = page.getByRole("button", { name: "Discard (1)" });
    // The list may still be that of the view before.
    const chooseFirst = async () => {
      await page.locator("[data-row] input").first().check();
      return discard.isVisible();
    };
    await expect.poll(chooseFirst).toBe(true);
    await look("one chosen");
    await discard.click();
    await page.getByRole("dialog").waitFor();
    await look("question");
    await page.keyboard.press("Escape");
    await go(page, "work?text=none", ".empty");
    await look("nothing found");
  }

  test.each(VISITS)(
    "axe-core and the eye find nothing at %i pixels, light and dark",
    { timeout: 300_000 },
    async (width, hasAllRules) => {
      const { page } = await open(bench.url, { viewport: { width, height: 800 } });
      const found: string[] = [];
      const finders = [FIND_CUT_OFF, FIND_CUT_CELLS, FIND_OVERLAPS, FIND_WIDENED];
      const look = lookAt(page, { hasAllRules, finders, found });
      await visit(page, look);
      if (width < 1440) await visitMoments(page, look);
      expect(found).toEqual([]);
    },
  );

  test("texts from outside are shown as texts, direction marks as signs, and a megabyte by its beginning", async () => {
    const { page } = await open(bench.url);
    await visit(page, async (place) => {
      if (place.endsWith(id)) await seeMarks(page, "error");
      await expectNoMarkup(page);
      const text = await page.evaluate<string>("document.body.innerText");
      expect(text, place).not.toMatch(/\p{Bidi_Control}/u);
      expect(text, place).not.toContain("\u001b");
      const lines = page.locator(".error-cell, .group-message, .timeline-text > p, .group-title");
      for (const line of await lines.allInnerTexts()) expect(line.length, place).toBeLessThan(1000);
    });
  });
});
