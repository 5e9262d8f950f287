import { createClient } from "pigeonhole/client";
import { expect, test } from "vitest";
import { seeText } from "./browser.js";
import { describeBench } from "./workbench.js";

describeBench("the sandbox view", { hasSandbox: true }, ({ bench, page, rows, problems }) => {
  const panel = (name: string) => page.getByRole("region", { name, exact: true });
  const openSandbox = () =>
    page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: "Sandbox" }).click();
  const writeRule = (rule: object) =>
    page.getByRole("textbox", { name: "Rule of the fault" }).fill(JSON.stringify(rule));
  const emit = () => bench.sandbox?.emit("email.sent");

  test("the sandbox view moves the clock to the next attempt, which is made", async () => {
    bench.answerWith({ status: 503, body: "{}" });
    emit();
    await openSandbox();
    const clock = panel("Clock");
    await clock.getByText("1 open delivery").waitFor();
    await panel("Endpoints").getByText("1 / 100 failed in a row").waitFor();
    bench.answerWith(null);
    await clock.getByRole("button", { name: "Advance to the next attempt" }).click();
    await page.getByText(/^The sandbox's clock is (?:\d+ s|1 min) further/).waitFor();
    await clock.getByText("No attempt is planned.").waitFor();
    await panel("Endpoints").getByText("0 / 100 failed in a row").waitFor();
    await seeText(clock, /\d+ (?:s|min) ahead of this machine's/);
    expect(bench.dev.captures.list().map(({ attempts }) => attempts[0]?.status)).toEqual([200, 503]);
    const by = clock.getByRole("textbox", { name: "or by" });
    const advance = clock.getByRole("button", { name: "Advance", exact: true });
    await by.fill("soon");
    await advance.click();
    await page.getByText(/"soon" is not a duration/).waitFor();
    await by.fill("2h");
    await advance.click();
    await expect.poll(() => clock.innerText()).toContain("2 h ahead of this machine's");
  });

  test("the sandbox view fires an event, whose delivery comes in", async () => {
    await openSandbox();
    await page.getByRole("combobox", { name: "Type of the event" }).selectOption("form.submitted");
    await page.getByRole("button", { name: "Fire the event" }).click();
    await page.getByText("Fired form.submitted").waitFor();
    await expect.poll(() => bench.dev.captures.list().map(({ event }) => event.type)).toEqual(["form.submitted"]);
  });

  test("the sandbox view is as the sandbox is after a restart of the dev server", async () => {
    await openSandbox();
    const faults = panel("Faults");
    await faults.getByText("None: every attempt is made").waitFor();
    await bench.dev.close();
    await page.getByText("lost, trying again").waitFor();
    bench.sandbox?.faults.deliveries.add({ fault: { kind: "drop" } });
    await bench.restart();
    await faults.getByText("no limit").waitFor();
    problems().length = 0;
  });

  test("the sandbox view shows an endpoint that was switched off, and resumes it", async () => {
    bench.answerWith({ status: 410, body: "{}" });
    emit();
    await openSandbox();
    const endpoints = panel("Endpoints");
    await endpoints.getByText("switched off").waitFor();
    await expect.poll(() => endpoints.innerText()).toContain(bench.dev.captureUrl);
    await expect.poll(() => endpoints.innerText()).toContain("24 event types");
    await endpoints.getByRole("button", { name: "Resume" }).click();
    await endpoints.getByText("receives").waitFor();
    expect(bench.sandbox?.endpoints.list()[0]?.enabled).toBe(true);
  });

  test("the sandbox view adds a fault of deliveries, counts it down, and removes it", async () => {
    await openSandbox();
    const faults = panel("Faults");
    await faults.getByText("None: every attempt is made").waitFor();
    await faults.getByRole("button", { name: "API down" }).click();
    await faults.getByText("no limit").waitFor();
    await faults.getByRole("button", { name: "Remove the fault error" }).click();
    await faults.getByText("Custom…").click();
    await writeRule({ fault: { kind: "status", status: 99 } });
    await faults.getByRole("button", { name: "Add the fault" }).click();
    await page
      .locator(".notice")
      .getByText(/status/)
      .waitFor();
    await writeRule({ fault: { kind: "status", status: 502 }, types: "email.*", times: 2 });
    await faults.getByRole("button", { name: "Add the fault" }).click();
    const row = faults.getByRole("listitem");
    await seeText(row, /status[\s\S]*status 502 · types email\.\*[\s\S]*2 left/);
    emit();
    await expect.poll(() => row.innerText()).toContain("1 left");
    await row.getByRole("button", { name: "Remove the fault status" }).click();
    await faults.getByText("None: every attempt is made").waitFor();
  });

  test("the sandbox view shows a call that failed by a fault, and a contact event that was stored", async () => {
    await openSandbox();
    const faults = panel("Faults");
    await faults.getByText("Custom…").click();
    await faults.getByRole("combobox", { name: "Kind of the fault" }).selectOption({ index: 6 });
    await faults.getByRole("button", { name: "Add the fault" }).click();
    await faults.getByText("code try_later").waitFor();
    const { apiKey = "", baseUrl = "" } = bench.sandbox ?? {};
    const client = createClient({ apiKey, baseUrl, maxRetries: 0 });
    const event = { name: "order.shipped", email: "ada@customer.example.com", properties: { plan: "pro" } };
    await expect(client.contactEvents.send(event)).rejects.toThrow();
    await client.contactEvents.send(event);
    const calls = page.getByRole("table", { name: "Calls received" }).locator("tbody tr");
    await seeText(calls.nth(1), /contactEvents\.send\s+503 try_later\s+error/);
    await seeText(calls.nth(0), /contactEvents\.send\s+20\d/);
    const stored = page.getByRole("table", { name: "Contact events received" });
    await seeText(stored, /order\.shipped\s+ada@customer\.example\.com\s+\{"plan":"pro"\}/);
    await faults.getByText("None: every attempt is made").waitFor();
  });

  test("an event that never reached the app has its attempts in the sandbox view, and the clock moves to the next", async () => {
    bench.sandbox?.faults.deliveries.add({ fault: { kind: "drop" }, times: 2 });
    emit();
    await openSandbox();
    const row = panel("Deliveries").getByRole("listitem").filter({ hasText: "email.sent" });
    await expect.poll(() => row.locator(".coming").count()).toBe(7);
    expect(await row.locator(".retry-line > :not(.coming)").innerText()).toContain("no answer");
    expect(bench.dev.captures.list()).toEqual([]);
    const next = row.getByRole("button", { name: "Advance to the next attempt" });
    await next.click();
    await expect.poll(() => row.locator(".coming").count()).toBe(6);
    await seeText(row.locator(".badge"), "tried again");
    await next.click();
    await seeText(row.locator(".badge"), "delivered");
    await expect.poll(() => row.locator(".retry-line > li").last().innerText()).toContain("200 accepted");
    expect(bench.dev.captures.list()).toHaveLength(1);
  });

  test("an open delivery of the sandbox moves the clock to its next attempt until it succeeds", async () => {
    bench.answerWith({ status: 503, body: "{}" });
    emit();
    await rows.first().click();
    await page.getByRole("tab", { name: "Attempts" }).click();
    const line = page.getByRole("region", { name: "Attempts of the service" });
    const hollow = line.locator(".coming");
    await expect.poll(() => hollow.count()).toBe(7);
    const next = line.getByRole("button", { name: "Advance to the next attempt" });
    await next.click();
    await expect.poll(() => hollow.count()).toBe(6);
    // A clock that is more than the tolerance ahead must not make the signatures stale.
    await next.click();
    await expect.poll(() => hollow.count()).toBe(5);
    bench.answerWith(null);
    await next.click();
    await expect.poll(() => hollow.count()).toBe(0);
    await expect.poll(() => line.getByRole("listitem").last().innerText()).toContain("200");
    expect(await next.count()).toBe(0);
    expect(bench.dev.captures.list().map(({ verify }) => verify.code)).toEqual(["ok", "ok", "ok", "ok"]);
  });
});
