import { expect, test } from "vitest";
import { seeText } from "../dev/page/browser.js";
import { describeBench } from "../dev/page/workbench.js";

describeBench("the page of the dev server", {}, ({ bench, page, rows }) => {
  test("a delivery is listed, explained, replayed and searched, and its event is in the inbox", async () => {
    await page.getByRole("heading", { name: "Waiting for the first delivery" }).waitFor();
    await bench.deliver({ type: "email.sent", data: { subject: "Hello there" } });
    await bench.deliver({ type: "email.failed", variant: "wrong-secret" });
    await rows.nth(1).waitFor();
    await seeText(rows.first(), /mismatch[\s\S]*email\.failed[\s\S]*503/);
    await seeText(rows.nth(1), /signed[\s\S]*email\.sent[\s\S]*Hello there[\s\S]*200/);
    await seeText(page.locator("[aria-live=polite]"), /^New: email\.failed, signature mis/);

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
