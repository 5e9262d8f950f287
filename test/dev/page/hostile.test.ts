import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Capture } from "#pigeonhole/capture/capture.js";
import { captureRequest } from "#pigeonhole/capture/capture-request.js";
import { launchBrowser, mustSkipBrowserTests, openPage } from "./browser.js";
import { SECRET, startWorkbench } from "./workbench.js";

const PAGE = resolve(import.meta.dirname, "../../../src/page");

/** Markup that says where it got in. */
function mark(place: string): string {
  return `<img src=x onerror="window.broken=(window.broken??'')+'${place} '">`;
}

/** A capture with markup in every text that the page shows. */
function makeHostileCapture(): Capture {
  const body = JSON.stringify({
    id: mark("id"),
    type: mark("type"),
    createdAt: mark("createdAt"),
    data: { subject: mark("subject"), recipient: mark("recipient"), [mark("name")]: [mark("item")] },
  });
  const capture = captureRequest({
    request: {
      method: "POST",
      path: `/${mark("path")}`,
      query: mark("query"),
      headers: [
        ["X-Svc-Signature", mark("signature")],
        [mark("header-name"), mark("header-value")],
      ],
      body: Buffer.from(body),
    },
    receivedAt: Date.now(),
    source: "live",
    secrets: [{ ref: "env:WEBHOOK_SECRET", value: SECRET }],
  });
  const attempt = (n: number): Capture["attempts"][number] => ({
    n,
    kind: "replay",
    mode: "resign",
    target: `http://127.0.0.1/${mark("target")}`,
    at: new Date().toISOString(),
    eventId: mark("new-id"),
    sentHeaders: [],
    sentBody: { encoding: "utf8", data: mark("sent-body") },
    status: n === 1 ? 500 : null,
    headers: [[mark("answer-name"), mark("answer-value")]],
    body: { encoding: "utf8", data: `${mark("answer-body")}${n}` },
    ms: 3,
    error: mark("error"),
  });
  return {
    ...capture,
    event: { id: mark("event-id"), type: mark("event-type"), at: null },
    verify: { ...capture.verify, summary: mark("summary"), fix: mark("fix"), secretRef: mark("secret") },
    attempts: [attempt(1), attempt(2)],
    tags: [mark("tag")],
    note: mark("note"),
    redaction: mark("redaction"),
  };
}

describe.skipIf(mustSkipBrowserTests())("text from outside", () => {
  let browser: Browser;

  beforeAll(async () => void (browser = await launchBrowser()));
  afterAll(() => browser.close());

  test("stays text wherever the page shows it", async () => {
    const bench = await startWorkbench({
      captures: [makeHostileCapture(), { ...makeHostileCapture(), id: "cap_other" }],
    });
    const { page, faults, close } = await openPage(browser, bench.pageUrl);
    const seen = new Set<string>();
    const look = async () => {
      await page.waitForTimeout(120);
      const text = await page.evaluate<string>("document.body.innerText");
      for (const [, place = ""] of text.matchAll(/\?\?''\)\+'([\w-]+) '/g)) seen.add(place);
    };

    await page.locator(".list-window .row").first().click();
    for (const key of ["1", "2", "3", "4", "5", "6"]) {
      await page.keyboard.press(key);
      await look();
    }
    await page.keyboard.press("5");
    await page.getByRole("checkbox", { name: "Compare attempt 1" }).check();
    await page.getByRole("checkbox", { name: "Compare attempt 2" }).check();
    await look();
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "Body" }).waitFor();
    await look();
    await page.keyboard.press("Escape");
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("d");
    await look();
    await page.keyboard.press("/");
    await page.keyboard.insertText(`nofield:${mark("search")} `);
    await look();

    for (const place of [
      "id",
      "type",
      "subject",
      "recipient",
      "name",
      "item",
      "path",
      "query",
      "header-name",
      "header-value",
      "event-id",
      "event-type",
      "target",
      "answer-name",
      "answer-value",
      "answer-body",
      "error",
      "sent-body",
      "tag",
      "note",
      "redaction",
      "secret",
    ]) {
      expect(seen, `${place} was shown`).toContain(place);
    }
    expect(await page.evaluate("window.broken")).toBeUndefined();
    expect(await page.evaluate("document.querySelectorAll('img:not(.nav-mark), [onerror]').length")).toBe(0);
    // Refused by the security policy would be seen here too.
    expect(faults).toEqual([]);
    await close();
    await bench.close();
  });

  test("stays text in the inbox", async () => {
    const bench = await startWorkbench();
    const body = JSON.stringify({
      id: "evt_hostile",
      type: `email.${mark("type")}`,
      createdAt: "2026-01-01T09:00:00.000Z",
      data: { subject: mark("subject") },
    });
    await bench.deliver({ body });
    const { page, faults, close } = await openPage(browser, bench.pageUrl);
    await page.getByRole("button", { name: "Inbox" }).click();
    await page.getByRole("button", { name: "Show evt_hostile" }).click();
    await page.getByRole("tree", { name: "Body" }).getByText("<img src=x").first().waitFor();
    expect(await page.evaluate("window.broken")).toBeUndefined();
    expect(faults).toEqual([]);
    await close();
    await bench.close();
  });
});

test("no file of the page makes markup of text", () => {
  const files = readdirSync(PAGE, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  expect(files.length).toBeGreaterThan(50);
  const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/;
  expect(files.filter((name) => forbidden.test(readFileSync(join(PAGE, name), "utf8")))).toEqual([]);
});
