import { expect, test } from "vitest";
import { seeText } from "../dev/page/browser.js";
import { describeDashboard } from "../dev/page/dashboard/dashboard-bench.js";

describeDashboard("the page of the dashboard", false, ({ bench, page, show, go, confirm }) => {
  test("what failed is counted, read in its event, and retried as a group until nothing of it is left", async () => {
    for (let n = 0; n < 3; n += 1) await bench.deliver("email.bounced");
    await show("#/overview");
    await page.getByRole("group", { name: "Backlog" }).waitFor();

    await go("#/work?state=dead&handler=crm");
    const rows = page.getByRole("table", { name: "Events" }).locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(3);
    await rows.first().getByRole("link").first().click();
    await page.getByRole("region", { name: "Time line" }).getByText("The service signed the delivery").waitFor();

    await go("#/errors");
    const group = page.getByRole("listitem").filter({ hasText: "no customer … for this address" });
    await seeText(group, /^3\n/);
    await group.getByRole("button", { name: "Retry group" }).click();
    await page.getByRole("heading", { name: "Retry 3 pieces of work of 3 events?" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await page.getByRole("region", { name: "Jobs" }).count()).toBe(0);
    bench.fixCrm();
    await group.getByRole("button", { name: "Retry group" }).click();
    await confirm("Retry");
    await seeText(page.getByRole("region", { name: "Jobs" }), /^Retried\s+3 of 3 · ann/);
    await page.getByRole("heading", { name: "No errors" }).waitFor();
  });
});
