import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import { findChromium, isSkippedWithout } from "../../support/tools.js";

async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Install Chromium, or name it in PIGEONHOLE_CHROMIUM.");
  return chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface OpenPage {
  page: Page;
  /** What went wrong in the page: uncaught errors, refused resources, violations of its security policy. */
  problems: string[];
}

interface PageOptions extends BrowserContextOptions {
  /** Whether the page may have problems. @default false */
  mayFail?: boolean;
}

/** Opens a page that is closed when its test ends, which then has no problems. */
type Open = (url: string, options?: PageOptions) => Promise<OpenPage>;

/** Tests in one browser. */
export function describeInBrowser(name: string, tests: (open: Open) => void): void {
  describe.skipIf(isSkippedWithout(findChromium()))(name, () => {
    let browser: Browser;
    beforeAll(async () => void (browser = await launchBrowser()));
    afterAll(() => browser.close());
    tests((url, options) => openPage(browser, url, options));
  });
}

async function openPage(browser: Browser, url: string, { mayFail = false, ...options }: PageOptions = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: "light",
    acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const problems: string[] = [];
  onTestFinished(async () => {
    await context.close();
    if (!mayFail) expect(problems).toEqual([]);
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    // A refused search is an answer of 400, which the browser notes by itself.
    if (message.type() === "error" && !message.text().includes("status of 400")) problems.push(message.text());
  });
  await page.goto(url);
  return { page, problems };
}

/** Stands for what each test has of its own: `now` gives that of the test that runs. */
export function ofEachTest<Thing extends object>(now: () => Thing): Thing {
  return new Proxy({} as Thing, {
    get(_, name) {
      const thing = now();
      const value: unknown = Reflect.get(thing, name);
      return typeof value === "function" ? (value.bind(thing) as unknown) : value;
    },
  });
}

/** Waits until an element has this text. */
export async function seeText(element: Locator, text: string | RegExp): Promise<void> {
  const shown = expect.poll(() => element.innerText());
  await (typeof text === "string" ? shown.toBe(text) : shown.toMatch(text));
}
