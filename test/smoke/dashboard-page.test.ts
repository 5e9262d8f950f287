import { describe, expect, onTestFinished, test } from "vitest";
import { launchBrowser, mustSkipBrowserTests, openPage } from "../dev/page/browser.js";
import { startDashboardBench } from "../dev/page/dashboard/dashboard-bench.js";

describe.skipIf(mustSkipBrowserTests())("the page of the dashboard", () => {
  test("what failed is counted, read in its event, and retried as a group until nothing of it is left", async () => {
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const bench = await startDashboardBench({ payloads: "full" });
    onTestFinished(() => bench.close());
    for (let n = 0; n < 3; n += 1) await bench.deliver("email.bounced");
    const { page, problems } = await openPage(browser, `${bench.url}#/overview`);
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("group", { name: "Backlog" }).waitFor();

    await page.evaluate('location.hash = "#/work?state=dead&handler=crm"');
    const rows = page.getByRole("table", { name: "Events" }).locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(3);
    await rows.first().getByRole("link").first().click();
    await page.getByRole("region", { name: "Time line" }).getByText("The service signed the delivery").waitFor();

    await page.evaluate('location.hash = "#/errors"');
    const group = page.getByRole("listitem").filter({ hasText: "no customer … for this address" });
    await expect.poll(() => group.innerText()).toMatch(/^3\n/);
    await group.getByRole("button", { name: "Retry group" }).click();
    await page.getByRole("heading", { name: "Retry 3 pieces of work of 3 events?" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await page.getByRole("region", { name: "Jobs" }).count()).toBe(0);
    bench.fixCrm();
    await group.getByRole("button", { name: "Retry group" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
    await expect.poll(() => page.getByRole("region", { name: "Jobs" }).innerText()).toMatch(/^Retried\s+3 of 3 · ann/);
    await page.getByRole("heading", { name: "No errors" }).waitFor();
    expect(problems).toEqual([]);
  });
});
