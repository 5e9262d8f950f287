import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { findChromium } from "../../support/tools.js";

/** True when the tests of the page cannot run here; never in CI, where they must. */
export function mustSkipBrowserTests(): boolean {
  if (findChromium() !== undefined) return false;
  if (process.env["CI"] !== undefined) throw new Error("No Chromium: install one, or name it in PIGEONHOLE_CHROMIUM.");
  return true;
}

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("No Chromium");
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
  close: () => Promise<void>;
}

export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
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
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    // A refused search is an answer of 400, which the browser notes by itself.
    if (message.type() === "error" && !message.text().includes("status of 400")) problems.push(message.text());
  });
  await page.goto(url);
  return { page, problems, close: () => context.close() };
}
