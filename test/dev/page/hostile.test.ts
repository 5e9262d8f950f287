import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import { describeInBrowser } from "./browser.js";
import { makeAttempt } from "../../support/captures.js";
import { expectNoMarkup, mark, seeMarks } from "./marks.js";
import { ROWS, SECRET, openWorkbench } from "./workbench.js";

const PAGE = resolve(import.meta.dirname, "../../../src/page");

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
  const attempt = (n: number) =>
    makeAttempt({
      n,
      kind: "replay",
      mode: "resign",
      target: `http://127.0.0.1/${mark("target")}`,
      eventId: mark("new-id"),
      sentBody: { encoding: "utf8", data: mark("sent-body") },
      status: n === 1 ? 500 : null,
      headers: [[mark("answer-name"), mark("answer-value")]],
      body: { encoding: "utf8", data: `${mark("answer-body")}${n}` },
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

describeInBrowser("text of a sender on the page", (open) => {
  test("text of a sender stays text wherever the page shows it", async () => {
    const captures = [makeHostileCapture(), { ...makeHostileCapture(), id: "cap_other" }];
    const { page } = await open((await openWorkbench({ captures })).pageUrl);
    const always = "event-type subject tag event-id redaction note";
    const tabs = {
      1: "id type createdAt subject name item",
      2: "signature header-name header-value",
      3: "path query id type createdAt subject name item",
      4: "target error answer-name answer-value answer-body sent-body",
      6: "target error answer-name answer-value answer-body sent-body",
      7: "secret",
    };
    await page.locator(ROWS).first().click();
    for (const [key, places] of Object.entries(tabs)) {
      await page.keyboard.press(key);
      await seeMarks(page, `${always} ${places}`);
    }
    await page.keyboard.press("6");
    await page.getByRole("table", { name: "Differences" }).waitFor();
    await seeMarks(page, "answer-body");
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "Body" }).waitFor();
    await seeMarks(page, tabs[1]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.insertText(`nofield:${mark("search")} `);
    await page.getByRole("alert").waitFor();
    await expectNoMarkup(page);
  });

  test("control characters in ids, types and payloads are shown as escapes", async () => {
    const bench = await openWorkbench();
    const [id, type] = ["evt_\u202egnp.\u009b2J", "email.\u202etnes"];
    const data = { "\u202eb": "\u202egnp.exe" };
    await bench.deliver({ body: JSON.stringify({ id, type, createdAt: "2026-01-01T09:00:00.000Z", data }) });
    const { page } = await open(bench.pageUrl);
    const spelled = { id: String.raw`evt_\u202egnp.\u009b2J`, type: String.raw`email.\u202etnes` };
    await page.locator(ROWS).first().getByText(spelled.type, { exact: true }).waitFor();
    await page.locator(ROWS).first().click();
    await page.getByTitle("Copy the event's id").getByText(spelled.id, { exact: true }).waitFor();
    const payload = page.getByRole("tree", { name: "Payload" });
    await payload.getByText(String.raw`"\u202egnp.exe"`, { exact: true }).waitFor();
    await payload.getByText(String.raw`\u202eb`, { exact: true }).waitFor();
  });
});

test("no file of the page converts text to markup", () => {
  const files = readdirSync(PAGE, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  expect(files.length).toBeGreaterThan(50);
  const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|javascript:/i;
  expect(files.filter((name) => forbidden.test(readFileSync(join(PAGE, name), "utf8")))).toEqual([]);
});
