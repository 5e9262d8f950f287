/* Draws docs/dashboard.png, the picture in docs/dashboard.md: npx tsx test/dev/page/dashboard/draw-dashboard.ts */
import { join } from "node:path";
import { HOUR, SECOND } from "#pigeonhole/base/duration.js";
import { launchBrowser, openPage } from "../browser.js";
import { startDashboardBench } from "./dashboard-bench.js";
import { writeExampleFigures } from "./example-figures.js";

const bench = await startDashboardBench();
for (const type of ["email.bounced", "email.complained", "email.opened"] as const) await bench.deliver(type);
await writeExampleFigures(bench.receiver, { spanMs: HOUR, everyMs: 10 * SECOND });
const browser = await launchBrowser();
const { page } = await openPage(browser, bench.url, { viewport: { width: 1280, height: 720 } });
await page.locator("canvas").first().waitFor();
await page.evaluate("document.querySelector('.dash-database code').textContent = 'inbox.db'");
await page.screenshot({ path: join(import.meta.dirname, "../../../../docs/dashboard.png") });
await browser.close();
await bench.close();
