import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receiver } from "pigeonhole";
import { launchBrowser, mustSkipBrowserTests, openPage } from "../browser.js";
import { FIND_WIDENED } from "../find-looks.js";
import { expectNoMarkup, mark, seeMarks } from "../marks.js";
import { type DashboardBench, startDashboardBench } from "./dashboard-bench.js";
import { reportRun } from "./example-figures.js";

const MEGABYTE = "long".repeat(250_000);
const CONTROLS = "\u202eevil\u2066\u001b[31m\u009b2J";

/** Markup, direction marks and codes of terminals, and a megabyte behind them. */
const hostile = (place: string): string => `${mark(place)} ${CONTROLS} ${MEGABYTE}`;
/** The same without the megabyte, for a name of the developer. */
const hostileName = (place: string): string => `${mark(place)} ${CONTROLS}`;

/** Nowhere in it may a line end. */
const WORD = "w".repeat(400);

const HANDLER = hostileName("handler");

/** A handler with steps and a contact event, which then fails. */
function register(receiver: Receiver): void {
  receiver.on(
    "email.clicked",
    async (_, ctx) => {
      await ctx.step(hostileName("step"), () => hostileName("step-value"));
      throw new Error(hostile("failure"));
    },
    { name: HANDLER, retry: { initialMs: 600_000 } },
  );
  receiver.on("email.replied", (_, ctx) => {
    ctx.contactEvents.record({
      name: "order.shipped",
      email: "nobody@customer.example.com",
      properties: { note: hostileName("property") },
    });
  });
  receiver.on("email.failed", (_, ctx) => {
    ctx.contactEvents.record({ name: WORD.slice(0, 100), email: `${WORD.slice(0, 60)}@customer.example.com` });
  });
}

/** Contact events that fail with long words: one is refused, one waits for its next try, and one behind it. */
async function recordFailing(bench: DashboardBench): Promise<string[]> {
  const ids: string[] = [];
  bench.apiFaults.push({ status: 422, code: WORD, param: WORD });
  ids.push(await bench.deliverTried("email.failed"));
  bench.apiFaults.push({ status: 503, code: WORD, retryAfter: "600" });
  ids.push(await bench.deliverTried("email.failed"));
  return [...ids, await bench.deliver("email.failed")];
}

describe.skipIf(mustSkipBrowserTests())("text from outside in the dashboard", () => {
  let browser: Browser;
  let bench: DashboardBench;
  const ids = { odd: hostileName("id"), long: `evt_${MEGABYTE.slice(0, 200)}`, wide: "evt_wide", failed: "" };
  let failing: string[];

  beforeAll(async () => {
    browser = await launchBrowser();
    bench = await startDashboardBench({ payloads: "full", register });
    bench.allow({ role: "operate", name: hostileName("person") });
    const createdAt = new Date().toISOString();
    const data = { subject: hostile("subject"), [hostileName("key")]: 1 };
    await bench.deliverEvent({ id: ids.odd, type: hostileName("type"), createdAt, data } as { id: string });
    await bench.deliverEvent({ id: ids.long, type: MEGABYTE, createdAt, data: {} } as { id: string });
    await bench.deliverEvent({ id: ids.wide, type: "wide".repeat(28), createdAt, data: {} } as { id: string });
    ids.failed = await bench.deliver("email.clicked");
    await bench.deliverTried("email.replied");
    failing = await recordFailing(bench);
    await bench.deliverBody(`{${WORD}`);
    await reportRun(bench.receiver, { handler: HANDLER, eventId: ids.odd, since: Date.now() - 125_000 });
  });

  afterAll(async () => {
    await browser.close();
    await bench.close();
  });

  async function go(page: Page, hash: string, part: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${hash}`)}`);
    await page.locator(part).first().waitFor();
  }

  /** Nothing was made of the texts, no sign turns their direction, and no part is wider than its place. */
  async function look(page: Page, place: string): Promise<void> {
    await expectNoMarkup(page);
    const shown = await page.evaluate<string>(`document.body.textContent +
      [...document.querySelectorAll('[title], [aria-label], [placeholder]')]
        .map((element) => element.title + element.ariaLabel + (element.placeholder ?? '')).join(' ')`);
    expect(shown, place).not.toMatch(/(?!\s)[\p{Bidi_Control}\p{Cc}]/u);
    expect(await page.evaluate<string[]>(FIND_WIDENED), place).toEqual([]);
  }

  test.each([390, 1280])("stays text in every view at %i pixels, with its marks spelled", async (width) => {
    const { page, problems, close } = await openPage(browser, bench.url, { viewport: { width, height: 800 } });
    await page.getByText("live", { exact: true }).waitFor();
    for (const [hash, part, marks] of [
      ["overview", "canvas, .card, h2", width > 400 ? "person" : ""],
      ["errors", ".group", "handler"],
      ["work?state=parked", "[data-row]", "id type"],
      ["work?state=pending", "[data-row]", "failure"],
      ["work?show=running", "[data-row]", "handler id"],
      ["work?show=handlers", "[data-row]", "handler"],
      ["outbox", "[data-row]", ""],
      [`event?id=${encodeURIComponent(ids.odd)}`, ".timeline", "type id"],
      [`event?id=${ids.long}`, ".timeline", ""],
      [`event?id=${ids.wide}`, ".timeline", ""],
      [`event?id=${ids.failed}`, ".timeline", "handler failure step"],
      [`event?id=${failing[0] ?? ""}`, ".event-side .tag", ""],
      [`event?id=${failing[2] ?? ""}`, ".waits-behind", ""],
    ] as const) {
      await go(page, hash, part);
      await page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))");
      if (marks !== "") await seeMarks(page, marks);
      await look(page, hash);
    }
    for (const [nth, part, place] of [
      [0, ".detail .waits-behind", "a contact event behind another"],
      [2, ".contact-problem .tag", "a contact event that was refused"],
      [3, ".contact-problem", "a contact event"],
    ] as const) {
      await go(page, "outbox", "[data-row]");
      await page.locator("[data-row] button").nth(nth).click();
      await page.locator(part).first().waitFor();
      await look(page, place);
    }
    await seeMarks(page, "property");
    expect(problems).toEqual([]);
    await close();
  });

  test("fits in 320 pixels", async () => {
    const { page, close } = await openPage(browser, bench.url, { viewport: { width: 320, height: 800 } });
    for (const [hash, part] of [
      ["overview", ".card"],
      ["errors", ".group"],
      ["work", "[data-row]"],
      [`event?id=${ids.wide}`, ".timeline"],
    ] as const) {
      await go(page, hash, part);
      await look(page, hash);
    }
    await go(page, "work?show=handlers", "[data-row]");
    await page.getByRole("button", { name: "Pause" }).first().click();
    await page.getByRole("dialog").waitFor();
    await look(page, "a question");
    await close();
  });

  test("stays text in banners, questions, jobs and an unveiled payload", async () => {
    const { page, problems, close } = await openPage(browser, bench.url, { viewport: { width: 390, height: 800 } });
    await page.getByText("live", { exact: true }).waitFor();
    await go(page, "work?show=handlers", "[data-row]");
    await page.locator("tr", { hasText: "handler" }).getByRole("button", { name: "Pause" }).last().click();
    await look(page, "a question");
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByRole("status").filter({ hasText: "is paused" }).waitFor();
    await seeMarks(page, "person");
    await look(page, "a banner");
    await go(page, "errors", ".group");
    await page.getByRole("button", { name: "Retry group" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
    await page.getByRole("region", { name: "Jobs" }).getByText("Retr").first().waitFor();
    await go(page, "work?show=jobs", "tbody tr");
    await look(page, "jobs");
    await go(page, `event?id=${encodeURIComponent(ids.odd)}`, ".timeline");
    await page.getByRole("button", { name: "Show it in full…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Show it" }).click();
    await seeMarks(page, "subject key");
    await look(page, "a payload");
    expect(problems).toEqual([]);
    await close();
  });
});
