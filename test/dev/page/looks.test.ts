import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./browser.js";
import { FIND_CUT_OFF, FIND_OVERLAPS, lookAt } from "./find-looks.js";
import { ROWS, openWorkbench, startWorkbench, type Workbench } from "./workbench.js";

/** In which widths axe-core looks by all rules; the eye looks in all. The long form has all widths. */
type Visit = readonly [width: number, hasAllRules: boolean];
const VISITS: readonly Visit[] = [
  [1280, true],
  [390, true],
  [700, false],
  [1024, false],
  [1920, false],
];
const isLong = process.env["VISITS"] === "all";

/** Bodies that are not JSON, with more than there is room for. */
const OTHER_BODIES: Readonly<Record<string, string | Uint8Array>> = {
  text: `${"a long line of text ".repeat(40)}\n`.repeat(60),
  "bytes that are not text": Uint8Array.from({ length: 4000 }, (_, n) => n % 256),
  "an empty one": "",
  "a form": new URLSearchParams({ subject: "Hello there", text: "a word ".repeat(400) }).toString(),
  "an end that is missing": `{"data":{"lines":[${'"a line",'.repeat(500)}`,
};

/** Every view, tab and dialog of the page. */
async function visit(page: Page, look: (place: string) => Promise<void>): Promise<void> {
  await page.locator(ROWS).first().waitFor();
  await look("list");
  await page.locator(ROWS).last().click();
  await page.keyboard.press("6");
  await page.getByRole("region", { name: "Attempts of the service" }).waitFor();
  await look("attempts of the service");
  await page.keyboard.press("Escape");
  for (const row of [1, 2]) {
    await page.locator(ROWS).nth(row).click();
    for (const key of ["1", "2", "3", "4", "5", "6", "7"]) {
      await page.keyboard.press(key);
      await page.getByRole("tabpanel").waitFor();
      await page.waitForTimeout(100);
      await look(`tab ${key} of row ${row}`);
    }
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("Enter");
  for (const key of ["R", "t", "?"]) {
    await page.keyboard.press(key);
    await page.getByRole("dialog").waitFor();
    await look(`dialog of ${key}`);
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Body" }).waitFor();
  await look("editor");
  await page.keyboard.press("Escape");
  for (const key of ["x", "j", "x"]) await page.keyboard.press(key);
  await look("two chosen");
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await page.getByRole("textbox", { name: "Envelope of the event" }).waitFor();
  await look("send");
  await page.getByRole("button", { name: "Outbox" }).click();
  await page.getByRole("table", { name: "Contact events" }).getByRole("button").first().click();
  await page.getByRole("region", { name: "Contact event", exact: true }).waitFor();
  await look("contact event");
  await page.getByRole("button", { name: "Sandbox" }).click();
  await page.getByRole("region", { name: "Faults" }).getByRole("listitem").waitFor();
  await look("sandbox");
}

/** Payload and raw body of the deliveries with {@link OTHER_BODIES}, which are the newest, the last one first. */
async function visitOtherBodies(page: Page, look: (place: string) => Promise<void>): Promise<void> {
  for (const [index, name] of Object.keys(OTHER_BODIES).toReversed().entries()) {
    await page.locator(ROWS).nth(index).click();
    for (const tab of ["payload", "raw"]) {
      await page.locator(`[data-tab=${tab}]`).click();
      await expect.poll(() => page.getByRole("tabpanel").getAttribute("aria-label")).toBe(tab);
      await look(`${tab} of ${name}`);
    }
    await page.locator("[data-tab=payload]").click();
  }
  await page.keyboard.press("Escape");
}

/** What is open for a moment, and what the page says where something is wrong. */
async function visitTroubles(page: Page, bench: Workbench, look: (place: string) => Promise<void>): Promise<void> {
  const rows = page.locator(ROWS);
  const search = page.getByRole("combobox", { name: "Search deliveries" });
  await rows.first().waitFor();
  await search.pressSequentially("status:");
  await page.getByRole("listbox", { name: "Completions" }).waitFor();
  await look("completions");
  await search.fill("staus:500 ");
  await page.getByRole("alert").waitFor();
  await look("a search that cannot be read");
  await search.press("Escape");
  await search.fill("nothing-like-this");
  await expect.poll(() => rows.count()).toBe(0);
  await look("nothing found");
  await search.press("Escape");
  await rows.nth(1).waitFor();

  await rows.first().click();
  await page.getByRole("button", { name: "Other ways to replay" }).click();
  await look("menu");
  await page.keyboard.press("Escape");
  await page.keyboard.press("4");
  await page.locator(".remark.warn").waitFor();
  await look("advice on an answer");
  bench.answerWith(null);
  await page.keyboard.press("r");
  await page.getByText(/^Replayed: 200 accepted/).waitFor();
  await page.keyboard.press("r");
  await page.locator(".answer-view .remark").waitFor();
  await look("a replay that ran nothing, and its notice");
  await page.getByText(/^As the answer|from the answer to attempt/).waitFor();
  await page.getByRole("button", { name: /[Ss]hare/ }).click();
  await page.getByText(/Check it before you share it/).waitFor();
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Body" }).waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("region", { name: "Answer", exact: true }).getByText(/^200/).waitFor();
  await look("answer beside the editor");
  await page.keyboard.press("Escape");
  await page.keyboard.press("5");
  await look("handlers that are not known");
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").waitFor();
  await look("question");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  for (const [key, word] of [
    ["x", "--inbox"],
    ["b", "--with-sandbox"],
  ] as const) {
    for (const each of ["g", key]) await page.keyboard.press(each);
    await page.getByText(word).first().waitFor();
    await look(`without ${word}`);
  }
  for (const each of ["g", "d"]) await page.keyboard.press(each);
  await rows.first().click();
  await bench.dev.close();
  await page.getByText("lost, trying again").waitFor();
  await page.keyboard.press("j");
  await page.getByText("This delivery could not be read.").waitFor();
  await look("lost");
  await bench.restart({ isTokenKept: false });
  await page.getByText("This browser is not signed in").waitFor();
  await look("not signed in");
}

describeInBrowser("the page's appearance", (open) => {
  let bench: Workbench;

  beforeAll(async () => {
    bench = await startWorkbench({ hasSandbox: true });
    bench.sandbox?.faults.deliveries.add({ fault: { kind: "drop" }, types: "form.*" });
    bench.sandbox?.emit("form.submitted");
    await bench.deliver({ type: "email.sent", variant: "stale" });
    await bench.deliver({ body: "not JSON" });
    await bench.deliver({ type: "email.opened" });
    bench.answerWith({ status: 500, body: '{"error":"boom"}' });
    await bench.deliver({ type: "email.failed", data: { count: 3, ok: true, none: null } });
    bench.answerWith({ status: 422, body: "no" });
    await bench.deliver({ type: "domain.sending_changed" });
    bench.answerWith(null);
    await bench.deliver({ type: "email.sent", variant: "wrong-secret" });
    await bench.deliver({ type: "email.bounced" });
    await bench.deliver({ type: "email.sent" });
  });

  afterAll(() => bench.close());

  /** What is found in a window of the page of a bench, which makes no other trouble. */
  async function findIn(
    [width, hasAllRules]: Visit,
    { pageUrl }: Pick<Workbench, "pageUrl">,
    see: (page: Page, look: (place: string) => Promise<void>) => Promise<void>,
  ): Promise<string[]> {
    // Some answers are made to be errors.
    const { page } = await open(pageUrl, { viewport: { width, height: 800 }, mayFail: true });
    const found: string[] = [];
    await see(page, lookAt(page, { hasAllRules, finders: [FIND_CUT_OFF, FIND_OVERLAPS], found }));
    return found;
  }

  test.each(isLong ? VISITS : VISITS.slice(0, 2))(
    "axe-core and the eye find nothing at %i pixels, light and dark",
    { timeout: 300_000 },
    async (...window) => {
      expect(await findIn(window, bench, visit)).toEqual([]);
    },
  );

  test.each(isLong ? VISITS.slice(0, 2) : VISITS.slice(0, 1))(
    "axe-core and the eye find nothing where something is open or wrong, at %i pixels",
    { timeout: 300_000 },
    async (...window) => {
      const other = await openWorkbench({ hasInbox: false });
      other.answerWith({ status: 200, body: "<p>Hello", headers: { "content-type": "text/html" } });
      for (const type of ["email.sent", "email.opened"] as const) await other.deliver({ type });
      expect(await findIn(window, other, (page, look) => visitTroubles(page, other, look))).toEqual([]);
    },
  );

  test("axe-core and the eye find nothing on bodies that are not JSON", { timeout: 300_000 }, async () => {
    const other = await openWorkbench();
    for (const body of Object.values(OTHER_BODIES)) await other.deliver({ body });
    expect(await findIn([1280, true], other, visitOtherBodies)).toEqual([]);
  });

  test("axe-core and the eye find nothing on an empty list", async () => {
    const other = await openWorkbench({ hasApp: false, hasInbox: false });
    const found = await findIn([1280, true], other, async (page, look) => {
      await page.getByText("Waiting for the first delivery").waitFor();
      await look("empty list");
    });
    expect(found).toEqual([]);
  });

  test("the colours follow the system's light or dark setting", async () => {
    const ground = async (colorScheme: "light" | "dark") => {
      const { page } = await open(bench.pageUrl, { colorScheme });
      await page.locator(".main").waitFor();
      return page.evaluate("getComputedStyle(document.querySelector('.main')).backgroundColor");
    };
    expect([await ground("light"), await ground("dark")]).toEqual(["rgb(255, 255, 255)", "rgb(25, 28, 32)"]);
  });

  test("the open delivery covers the list until it is closed, if there is no room for two panes", async () => {
    const { page } = await open(bench.pageUrl, { viewport: { width: 700, height: 720 } });
    await page.locator(ROWS).nth(1).click();
    const detail = page.getByRole("region", { name: "Delivery" });
    await detail.waitFor();
    await expect.poll(async () => (await detail.boundingBox())?.width).toBe(620);
    await page.keyboard.press("j");
    await page.getByRole("button", { name: "Close" }).click();
    const row = page.locator(ROWS).nth(2);
    await expect.poll(async () => (await row.boundingBox())?.width).toBe(620);
    await expect.poll(() => row.locator(":focus").count()).toBe(1);
  });
});
