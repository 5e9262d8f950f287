import { describe, expect, test } from "vitest";
import { mustSkipBrowserTests, type OpenPage } from "../dev/page/browser.js";
import { openForEach } from "../dev/page/open-for-each.js";
import type { Workbench } from "../dev/page/workbench.js";

describe.skipIf(mustSkipBrowserTests())("the page of the dev server", () => {
  let bench: Workbench;
  let page: OpenPage["page"];

  openForEach((opened) => ({ bench, page } = opened));

  test("a delivery is listed, explained, replayed and searched, and its event is in the inbox", async () => {
    const rows = page.locator(".list-side [data-row]");
    await page.getByRole("heading", { name: "Waiting for the first delivery" }).waitFor();
    await bench.deliver({ type: "email.sent", data: { subject: "Hello there" } });
    await bench.deliver({ type: "email.failed", variant: "wrong-secret" });
    await rows.nth(1).waitFor();
    await expect.poll(() => rows.first().innerText()).toMatch(/mismatch[\s\S]*email\.failed[\s\S]*503/);
    await expect.poll(() => rows.nth(1).innerText()).toMatch(/signed[\s\S]*email\.sent[\s\S]*Hello there[\s\S]*200/);
    await expect
      .poll(() => page.locator("[aria-live=polite]").innerText())
      .toMatch(/^New: email\.failed, signature mis/);

    await rows.nth(1).click();
    await page.getByRole("tree", { name: "Payload" }).getByText("Hello there").waitFor();
    await page.getByRole("tab", { name: /^Signature/ }).click();
    await expect.poll(() => page.getByRole("tabpanel").locator("p").first().innerText()).toContain("Genuine");
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByText(/200 duplicate .*Not run: the receiver has this id/).waitFor();

    await page.getByRole("combobox", { name: "Search deliveries" }).fill("type:email.failed ");
    await expect.poll(() => rows.count()).toBe(1);
    expect((await bench.inbox.list({ type: "email.sent" })).items).toHaveLength(1);
  });
});
