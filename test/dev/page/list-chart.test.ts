import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type OpenPage, describeInBrowser } from "./browser.js";
import { ROWS, startWorkbench, type Workbench } from "./workbench.js";
import { makeWorkingDay } from "./working-day.js";

describeInBrowser("the chart above the list", (open) => {
  const captures = makeWorkingDay();
  let bench: Workbench;
  let page: OpenPage["page"];

  beforeAll(async () => void (bench = await startWorkbench({ captures })));
  afterAll(() => bench.close());
  beforeEach(async () => {
    ({ page } = await open(bench.pageUrl));
    await chart().waitFor();
  });

  const chart = () => page.getByRole("region", { name: "Deliveries over time" });
  const bars = () => chart().getByRole("img");
  const listed = () => page.locator(".strip-count").innerText();
  /** The times of the query in the address, in milliseconds since 1970. */
  const readTimes = (): [after: number, before: number] => {
    const query = decodeURIComponent(page.url());
    const [, after = "", before = ""] = /after:(\S+?)[+ ]before:([^&]+)/.exec(query) ?? [];
    return [Date.parse(after), Date.parse(before)];
  };

  test("the chart counts each delivery once, by what became of it", async () => {
    const statuses = captures.map(({ attempts }) => attempts.at(-1)?.status ?? 0);
    const accepted = statuses.filter((status) => status === 200).length;
    const legend = chart().locator(".legend");
    const legendTexts = async () => (await legend.allTextContents()).map((text) => text.trim());
    await expect.poll(legendTexts).toEqual([`accepted ${accepted}`, `failed ${120 - accepted}`]);
    const titles = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.time-bar')].map(({ title }) => title)",
    );
    const counts = titles.flatMap((title) => [...title.matchAll(/(\d+) (?:accepted|failed)/g)]);
    expect(counts.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(120);
    expect(titles[0]).toMatch(/\d\d:\d\d:00 to .*\d\d:\d\d:00: /);
    // An hour up to now in bars of a minute, with the number of the highest.
    expect(titles).toHaveLength(60);
    expect(await chart().locator(".time-axis span").count()).toBe(5);
    const highest = titles.map((title) =>
      [...title.matchAll(/(\d+) (?:a|f)/g)].reduce((sum, [, n]) => sum + Number(n), 0),
    );
    expect(await chart().locator(".time-most").innerText()).toBe(String(Math.max(...highest)));
    expect((await bars().boundingBox())?.height).toBeLessThan(30);
  });

  test("dragging over the chart lists the deliveries of that time, beside the other terms of the search", async () => {
    await page.getByRole("button", { name: /^2xx/ }).click();
    await expect.poll(listed).toMatch(/ of 120 deliveries$/);
    const box = await bars().boundingBox();
    if (box === null) throw new Error("The chart is not there");
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 5 });
    await expect.poll(() => bars().locator(".touched").count()).toBeGreaterThan(5);
    await page.mouse.up();
    await expect.poll(() => page.url()).toContain("before");
    const [after, before] = readTimes();
    const inTime = captures.filter(({ attempts, receivedAt }) => {
      const at = Date.parse(receivedAt);
      return attempts.at(-1)?.status === 200 && at >= after && at < before;
    });
    expect(inTime.length).toBeGreaterThan(10);
    await expect.poll(listed).toBe(`${inTime.length} of 120 deliveries`);
    await chart().getByRole("button", { name: "All times" }).click();
    await expect.poll(() => page.getByRole("combobox", { name: "Search deliveries" }).inputValue()).toBe("status:2xx");
  });

  test("the answer times of the listed deliveries are measured, with median and 95 % in words", async () => {
    const words = async () => (await chart().locator(".answer-times").textContent())?.trim();
    const describe = (all: number[]) => {
      const sorted = all.toSorted((a, b) => a - b);
      const [median, p95] = [0.5, 0.95].map((share) => sorted[Math.ceil(all.length * share) - 1]);
      return `answers: median ${median} ms, 95 % within ${p95} ms`;
    };
    const tookOf = (isWanted: (status: number) => boolean) =>
      captures.flatMap(({ attempts: [only] }) => (only && isWanted(only.status ?? 0) ? [only.ms] : []));
    await expect.poll(words).toBe(describe(tookOf(() => true)));
    await page.getByRole("button", { name: /^5xx/ }).click();
    await expect.poll(words).toBe(describe(tookOf((status) => status >= 500)));
  });

  test("a window of 390 pixels shows the bars and their times alone", async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await expect.poll(() => chart().locator(".legend").first().isVisible()).toBe(false);
    expect(await bars().isVisible()).toBe(true);
    expect((await chart().boundingBox())?.height).toBeLessThan(60);
    await page.locator(ROWS).first().waitFor();
  });
});
