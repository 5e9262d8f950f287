import type { Browser, Page } from "playwright-core";
import { type Store } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, mustSkipBrowserTests, openPage, type OpenPage } from "../dev/page/browser.js";
import { type DashboardBench, startDashboardBench } from "../dev/page/dashboard/dashboard-bench.js";
import { describeOnPostgres } from "../support/postgres-server.js";

describe.skipIf(mustSkipBrowserTests())("the dashboard's page on PostgreSQL", () => {
  describeOnPostgres((database) => {
    let browser: Browser;
    let bench: DashboardBench;
    let open: OpenPage;
    let page: Page;

    beforeAll(async () => {
      browser = await launchBrowser();
      const { pool, schema } = database;
      const store = createPostgresStore({ pool, schema }) as Store<unknown> as Store;
      bench = await startDashboardBench({ payloads: "full", store });
      // Before the page counts what waits: counts are kept for some seconds.
      await bench.deliver("email.complained");
      open = await openPage(browser, `${bench.url}#/overview`);
      page = open.page;
      await page.getByText("live", { exact: true }).waitFor();
    });
    afterAll(async () => {
      await browser.close();
      await bench.close();
    });

    const go = (hash: string) => page.evaluate(`location.hash = ${JSON.stringify(`#/${hash}`)}`);
    const button = (name: string | RegExp) => page.getByRole("button", { name });
    const rows = (name: string) => page.getByRole("table", { name }).locator("tbody tr");

    test("the overview counts what waits and what failed", async () => {
      const backlog = page.getByRole("group", { name: "Backlog" });
      await expect.poll(() => backlog.innerText()).toMatch(/1/);
      expect(await page.locator(".dash-database code:not(.short)").innerText()).toMatch(/^postgres:/);
    });

    test("a group of errors is retried until nothing of it is left", async () => {
      for (let n = 0; n < 3; n += 1) await bench.deliver("email.bounced");
      await go("errors");
      const group = page.getByRole("listitem").filter({ hasText: "no customer … for this address" });
      await expect.poll(() => group.innerText()).toMatch(/^3\n/);
      bench.fixCrm();
      await group.getByRole("button", { name: "Retry group" }).click();
      await page.getByRole("heading", { name: "Retry 3 pieces of work of 3 events?" }).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
      const changes = page.getByRole("region", { name: "Jobs" });
      await expect.poll(() => changes.innerText()).toMatch(/^Retried\s+3 of 3 · ann/);
      await group.waitFor({ state: "detached" });
    });

    test("chosen work is discarded, and its event's page says so", async () => {
      const id = await bench.deliver("email.complained");
      await go("work?state=pending&handler=ledger");
      await page.getByRole("checkbox", { name: `Choose ${id}` }).check();
      await expect.poll(() => rows("Events").count()).toBe(2);
      await page.getByRole("link", { name: id }).click();
      const line = page.getByRole("region", { name: "Time line" });
      await line.getByText("The service signed the delivery").waitFor();
      await line
        .getByText(/the ledger is closed/)
        .first()
        .waitFor();
      await button("Discard").click();
      await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
      await line.getByText("was ended without a run").first().waitFor();
      await go("work?state=pending&handler=ledger");
      await expect.poll(() => rows("Events").count()).toBe(1);
    });

    test("a contact event that the service refused is sent again", async () => {
      await bench.deliver("email.opened");
      await go("outbox?state=dead");
      await rows("Contact events").getByRole("button").first().click();
      const pane = page.getByRole("region", { name: "Contact event", exact: true });
      await pane.getByText("contact_not_found").first().waitFor();
      await pane.getByRole("button", { name: "Retry" }).click();
      await page.getByText("1 contact event pending again").waitFor();
      expect(open.problems).toEqual([]);
    });
  });
});
