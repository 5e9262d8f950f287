import { expect, test } from "vitest";
import { describeDashboard } from "./dashboard-bench.js";

describeDashboard("the dashboard without a mouse", false, ({ bench, page, show, go }) => {
  const focusedRow = () => page.evaluate("document.activeElement.closest('[data-row]')?.dataset.row");
  const focused = () =>
    page.evaluate(
      "((part) => `${part.role ?? part.tagName} ${part.ariaLabel ?? part.textContent}`)(document.activeElement)",
    );
  const scrollTopOf = (part: string) => page.evaluate<number>(`document.querySelector('${part}').scrollTop`);

  test("arrow keys change the filter that has the focus, and Enter there opens nothing", async () => {
    for (const type of ["email.bounced", "email.complained"] as const) await bench.deliver(type);
    await show("#/work");
    await page.locator("[data-row]").first().waitFor();
    await page.getByRole("button", { name: "Filters" }).click();
    for (const name of ["Handler", "Event type", "Time"]) {
      const filter = page.getByRole("combobox", { name });
      await filter.focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await page.keyboard.press("ArrowDown");
      await expect.poll(() => filter.inputValue()).not.toBe("");
      expect(await page.evaluate("document.activeElement.ariaLabel")).toBe(name);
    }
    expect(page.url()).toMatch(/#\/work\?/);
  });

  test("arrow keys scroll the page of an event and the pane of a contact event, and j goes on in the list", async () => {
    const id = await bench.deliver("email.opened", { note: "long ".repeat(400) });
    await expect.poll(async () => (await bench.receiver.contactEvents.list()).items[0]?.state).toBe("dead");
    await show(`#/event?id=${id}`, 360);
    await page.getByRole("region", { name: "Event", exact: true }).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => scrollTopOf(".event-parts")).toBeGreaterThan(0);
    await go("#/outbox");
    await page.locator("[data-row] button").first().click();
    await page.getByRole("region", { name: "Facts" }).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => scrollTopOf(".detail-body")).toBeGreaterThan(0);
    await page.keyboard.press("j");
    await expect.poll(focusedRow).toBeTruthy();
  });

  test("the focus has a place once the button that had it is gone", async () => {
    for (const type of ["email.bounced", "email.bounced", "email.complained"] as const) await bench.deliver(type);
    await show("#/work?state=dead");
    await page.locator("[data-row]").nth(1).waitFor();
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Discard (2)" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nothing is dead" }).waitFor();
    await expect.poll(focused).toBe("region Events");

    await go("#/work");
    await page.locator("[data-row]").nth(2).waitFor();
    await page.keyboard.press("j");
    const row = await focusedRow();
    await page.keyboard.press("x");
    await page.getByRole("button", { name: "Choose none" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(focusedRow).toBe(row);

    await go("#/work?show=handlers");
    await page.getByRole("button", { name: "Pause crm" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByRole("button", { name: "Resume crm" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(focusedRow).toBe("crm");

    await go(`#/event?id=${await bench.deliver("email.bounced")}`);
    await page.getByRole("button", { name: "Discard" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("H1 email.bounced");
  });
});
