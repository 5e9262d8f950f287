/* Draws docs/page.png, the picture of the page in the README: npx tsx test/dev/page/draw-page.ts */
import { join } from "node:path";
import { sampleEvent } from "pigeonhole/testing";
import { launchBrowser, openPage } from "./browser.js";
import { startWorkbench } from "./workbench.js";
import { makeWorkingDay } from "./working-day.js";

const bench = await startWorkbench({ captures: makeWorkingDay() });
// The newest show what an app's handlers make of deliveries.
const twice = JSON.stringify(sampleEvent("email.received"));
await bench.deliver({ body: twice });
await bench.deliver({ body: twice });
await bench.deliver({ body: JSON.stringify({ ...sampleEvent("email.sent"), type: "invoice.paid" }) });
await bench.deliver({ type: "email.bounced" });
await bench.deliver({ type: "email.complained" });
await bench.deliver({ type: "email.sent", variant: "wrong-secret" });
const browser = await launchBrowser();
const { page } = await openPage(browser, bench.pageUrl, { viewport: { width: 1280, height: 720 } });
await page.locator(".list-window .row").first().click();
await page.locator(".list-window .row").nth(1).getByText("retrying").waitFor();
await page.locator(".detail-head .remark").waitFor();
await page.mouse.move(0, 0);
await page.screenshot({ path: join(import.meta.dirname, "../../../docs/page.png") });
await browser.close();
await bench.close();
