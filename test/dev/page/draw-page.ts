/* Draws docs/page.png, the picture of the page in the README: npx tsx test/dev/page/draw-page.ts */
import { join } from "node:path";
import { launchBrowser, openPage } from "./browser.js";
import { startWorkbench } from "./workbench.js";
import { makeWorkingDay } from "./working-day.js";

const bench = await startWorkbench({ captures: makeWorkingDay() });
const browser = await launchBrowser();
const { page } = await openPage(browser, bench.pageUrl, { viewport: { width: 1280, height: 720 } });
await page.locator(".list-window .row").nth(2).click();
await page.getByRole("tree", { name: "Payload" }).waitFor();
await page.mouse.move(0, 0);
await page.screenshot({ path: join(import.meta.dirname, "../../../docs/page.png") });
await browser.close();
await bench.close();
