import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { launchBrowser, openPage, type OpenPage } from "./browser.js";
import { startWorkbench, type Workbench, type WorkbenchOptions } from "./workbench.js";

/** What a test of the page works with. */
export interface OpenBench extends OpenPage {
  bench: Workbench;
}

/**
 * One browser for the suite, and a fresh dev server and page for each test, which ends without an error in the page.
 *
 * @param use Takes them, before each test.
 * @param prepare Runs before the page is opened.
 * @param options Of each dev server.
 */
export function openForEach(
  use: (opened: OpenBench) => void,
  prepare?: (bench: Workbench) => Promise<void>,
  options: WorkbenchOptions = {},
): void {
  let browser: Browser;
  let opened: OpenBench;

  beforeAll(async () => void (browser = await launchBrowser()));
  afterAll(() => browser.close());

  beforeEach(async () => {
    const bench = await startWorkbench(options);
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
