import { sampleEvent } from "pigeonhole/testing";
import type { EventType } from "pigeonhole/protocol";
import { expect, test } from "vitest";
import { describeBench } from "./workbench.js";

describeBench("the view to send", {}, ({ bench, page, rows }) => {
  const goTo = (name: string) => page.getByRole("navigation", { name: "Views" }).getByRole("button", { name }).click();

  test("the send view offers all 24 types, sends the sample of one, remembers it and opens it", async () => {
    await goTo("Send");
    const types = page.getByRole("navigation", { name: "Event types" });
    await expect.poll(() => types.locator(".type-item").count()).toBe(24);
    await types.getByRole("button", { name: "form.submitted" }).click();
    await page.getByRole("textbox", { name: "Envelope of the event" }).getByText('"form.submitted"').waitFor();
    await page.getByRole("button", { name: /^Send Ctrl/ }).click();
    await page.locator(".notice.good").getByText("Sent 1 delivery: 200 accepted").waitFor();
    const sent = page.getByRole("region", { name: "Sent before" });
    await sent.getByText(/^200/).waitFor();
    expect((await bench.inbox.list({})).items.map(({ type }) => type)).toEqual(["form.submitted"]);
    await page.reload();
    await sent.getByRole("button").click();
    const opened = page.getByRole("region", { name: "Delivery", exact: true });
    await opened.getByRole("button", { name: "Edit & replay" }).waitFor();
  });

  test.each([
    ["Wrong secret", "mismatch", "503"],
    ["Stale", "stale", "503"],
    ["Tampered", "mismatch", "503"],
    ["Missing", "unsigned", "401"],
  ])("the send view sends a sample with the fault %s: %s, answered %s", async (variant, verdict, status) => {
    await goTo("Send");
    await page.getByRole("radio", { name: variant }).check();
    await page.getByRole("button", { name: /^Send Ctrl/ }).click();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    const row = rows.first();
    await row.waitFor();
    await expect.poll(() => row.innerText()).toContain(status);
    await expect.poll(() => row.locator(".badge-word").textContent()).toBe(verdict);
    expect((await bench.inbox.list({})).items).toEqual([]);
  });

  test("the send view sends one event several times, and the receiver accepts it once", async () => {
    await goTo("Send");
    await page.getByRole("spinbutton", { name: "Deliveries of this event" }).fill("3");
    await page.getByRole("button", { name: "Send 3 times" }).click();
    await page.getByText("Sent 3 deliveries: 1 × 200 accepted, 2 × 200 duplicate").waitFor();
    expect(bench.dev.captures.size).toBe(3);
    expect((await bench.inbox.list({})).items).toHaveLength(1);
  });

  test.each([
    ["email.bounced", {}, "good", "Sent 1 delivery: 200 accepted", "dead"],
    ["email.sent", { type: "invoice.paid" }, "warn", "Sent 1 delivery: 200 parked", "parked"],
  ])("the send view shows what the app made of %s with %o", async (type, change, tone, text, work) => {
    await goTo("Send");
    await page.getByRole("button", { name: type }).click();
    const editor = page.getByRole("textbox", { name: "Envelope of the event" });
    await editor.getByText(`"${type}"`).waitFor();
    await editor.press("Control+a");
    await page.keyboard.insertText(JSON.stringify({ ...sampleEvent(type as EventType), ...change }));
    await page.getByRole("button", { name: /^Send Ctrl/ }).click();
    await page.locator(`.notice.${tone}`).getByText(text).waitFor();
    const sent = page.getByRole("region", { name: "Sent before" }).getByRole("button");
    await expect.poll(() => sent.locator(".badge").last().textContent()).toContain(work);
    const [shown, whole] = await page.evaluate<[number, number]>(`(() => {
      const { clientWidth, scrollWidth } = document.querySelector(".sent-type");
      return [clientWidth, scrollWidth];
    })()`);
    expect(shown, "width of the type in sight").toBe(whole);
  });
});
