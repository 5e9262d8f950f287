import { expect, test } from "vitest";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import { EVENT_TYPES } from "#pigeonhole/protocol/event-types.js";
import { sampleEvent } from "#pigeonhole/sandbox/samples/sample-event.js";
import { describeInBrowser, seeText } from "./browser.js";
import { ROWS, openWorkbench } from "./workbench.js";

const MANY = 10_000;

function makeCaptures(): Capture[] {
  const now = Date.now();
  return Array.from({ length: MANY }, (_, n) =>
    captureRequest({
      request: {
        method: "POST",
        path: "/webhooks",
        headers: [["Content-Type", "application/json"]],
        body: Buffer.from(JSON.stringify(sampleEvent(EVENT_TYPES[n % EVENT_TYPES.length] ?? "email.sent", { n }))),
      },
      receivedAt: now - n * 1000,
      source: "live",
      secrets: [],
    }),
  );
}

describeInBrowser("10,000 captures", (open) => {
  test("the list of 10,000 captures draws a part of them and more when asked, stays live, and is searched", async () => {
    const bench = await openWorkbench({ captures: makeCaptures() });
    const { page } = await open(bench.pageUrl);
    const rows = page.locator(ROWS);
    await rows.first().waitFor();
    await seeText(page.locator(".strip-count"), "10,000 deliveries");
    expect(await rows.count()).toBe(200);
    expect(await page.locator(".time-bar").count()).toBeLessThanOrEqual(61);

    await page.keyboard.press("End");
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBe(400);
    await page.keyboard.press("Home");
    await bench.deliver({ data: { subject: "The newest one" } });
    await page.getByText("The newest one").waitFor();
    await seeText(page.locator(".strip-count"), "10,001 deliveries");
    await page.getByRole("combobox").fill("data.n:4711 ");
    await expect.poll(() => rows.count(), { interval: 20 }).toBe(1);
  });
});
