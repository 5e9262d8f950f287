/*
 * Prints how long each tab takes to show a body of 5 MB, in milliseconds until it is drawn, and of these the CPU of the
 * page: npx tsx test/dev/page/time-large-bodies.ts
 */
import type { Page } from "playwright-core";
import { launchBrowser, openPage } from "./browser.js";
import { captureLargeBodies, LARGE_BODIES } from "./large-bodies.js";
import { startWorkbench } from "./workbench.js";

/** The payload last, which is shown at first. */
const TABS = ["headers", "raw", "answer", "handlers", "attempts", "signature", "payload"];

/** Clicks, and waits for the frame in which the tab is drawn. */
const clickAndDraw = (selector: string, index: number) => `new Promise((resolve) => {
  const start = performance.now();
  document.querySelectorAll(${JSON.stringify(selector)})[${index}].click();
  const look = () => {
    const isThere = document.querySelector(".detail[aria-busy=false] [role=tabpanel]") !== null;
    if (!isThere) setTimeout(look, 1);
    else requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
  };
  look();
})`;

async function timeClick(page: Page, selector: string, index = 0): Promise<string> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const readCpu = async () =>
    (await cdp.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
  const before = await readCpu();
  const ms = await page.evaluate<number>(clickAndDraw(selector, index));
  const cpuMs = ((await readCpu()) - before) * 1000;
  await cdp.detach();
  return `${Math.round(ms)} (${Math.round(cpuMs)})`;
}

const bench = await startWorkbench({ captures: captureLargeBodies() });
const browser = await launchBrowser();
for (const [index, name] of Object.keys(LARGE_BODIES).entries()) {
  const { page, close } = await openPage(browser, bench.pageUrl);
  await page.locator(".list-window .row").nth(index).waitFor();
  const times = [`open ${await timeClick(page, ".list-window .row", index)}`];
  for (const tab of TABS) times.push(`${tab} ${await timeClick(page, `[data-tab="${tab}"]`)}`);
  process.stdout.write(`${name}: ${times.join(", ")}\n`);
  await close();
}
await browser.close();
await bench.close();
