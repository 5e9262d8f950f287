import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { launchBrowser, openPage, type OpenPage } from "./browser.js";
import { startWorkbench, type Workbench } from "./workbench.js";

/** What a test of the page works with. */
export interface OpenBench extends OpenPage {
  bench: Workbench;
}

/**
 * One browser for the suite, and a fresh dev server and page for each test, which ends without an error in the page.
 *
 * @param use Takes them, before each test.
 * @param prepare Runs before the page is opened.
 */
export function openForEach(use: (opened: OpenBench) => void, prepare?: (bench: Workbench) => Promise<void>): void {
  let browser: Browser;
  let opened: OpenBench;

  beforeAll(async () => void (browser = await launchBrowser()));
  afterAll(() => browser.close());

  beforeEach(async () => {
    const bench = await startWorkbench();
    await prepare?.(bench);
    opened = { bench, ...(await openPage(browser, bench.pageUrl)) };
    use(opened);
  });

  afterEach(async () => {
    expect(opened.problems).toEqual([]);
    await opened.close();
    await opened.bench.close();
  });
}
