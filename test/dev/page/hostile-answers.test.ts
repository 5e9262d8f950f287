import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, mustSkipBrowserTests, openPage } from "./browser.js";
import { expectNoMarkup, mark, seeMarks } from "./marks.js";
import { startWorkbench } from "./workbench.js";

/** Answers of the dev server with markup in every text that is not a word of ours. */
const ANSWERS: Record<string, (real: object) => object> = {
  "/api/session": (real) => ({
    ...real,
    publicUrl: `https://tunnel.example.com/${mark("tunnel")}`,
    forwards: [{ types: mark("forward-types"), target: `http://127.0.0.1:1/${mark("forward-target")}` }],
    secrets: [mark("secret-name")],
    sandbox: true,
  }),
  "/api/inbox/events": () => ({ items: [makeEvent()], nextCursor: null }),
  "/api/inbox/events/evt_1": () => ({ ...makeEvent(), body: mark("body"), errors: makeErrors(), captureIds: [] }),
  "/api/sandbox": makeSandboxState,
  "/api/inbox/contact-events": () => ({ items: [makeContactEvent()], nextCursor: null }),
  [`/api/inbox/contact-events/${encodeURIComponent(mark("key"))}`]: () => ({
    ...makeContactEvent(),
    body: JSON.stringify({ name: mark("sent-body") }),
  }),
};

function makeEvent() {
  const handler = { handler: mark("handler"), state: "dead", reason: mark("reason"), error: mark("handler-error") };
  return {
    id: "evt_1",
    type: mark("event-type"),
    test: false,
    receivedAt: "2026-01-01T09:00:00.000Z",
    state: "dead",
    handlers: [{ ...handler, attempts: 4, maxAttempts: 14, dueAt: null, retryRequestedAt: null, discarded: false }],
  };
}

function makeErrors() {
  return {
    [mark("handler")]: {
      first: { attempt: 1, stack: mark("first-error"), at: new Date(0).toISOString() },
      last: { attempt: 4, stack: mark("handler-error"), at: "2026-01-01T09:00:01.000Z" },
    },
  };
}

function makeContactEvent() {
  return {
    key: mark("key"),
    state: "dead",
    name: mark("name"),
    contact: mark("contact"),
    recordedAt: "2026-01-01T09:00:00.000Z",
    attempts: 1,
    dueAt: null,
    error: null,
    reason: null,
    code: mark("code"),
    param: mark("param"),
    message: mark("message"),
    occurredAt: "2026-01-01T09:00:00.000Z",
    settledAt: null,
    remoteId: mark("remote-id"),
    inboxEventId: mark("inbox-event-id"),
  };
}

function makeSandboxState() {
  const at = "2026-01-01T09:00:00.000Z";
  const endpoint = { id: "whe_1", url: mark("endpoint-url"), eventTypes: [mark("endpoint-type")], enabled: false };
  const reason = { disabledReason: mark("off-reason"), disabledAt: at, consecutiveFailures: 3, lastDeliveryAt: at };
  const fault = { kind: mark("fault-kind"), code: mark("fault-code") };
  const call = {
    at,
    method: "POST",
    call: mark("call"),
    status: 422,
    code: mark("call-code"),
    fault: mark("call-fault"),
  };
  const contactEvent = { id: "cev_1", name: mark("stored-name"), email: mark("stored-email"), occurredAt: at };
  return {
    now: at,
    aheadMs: 0,
    apiUrl: mark("api-url"),
    nextAttemptAt: at,
    openDeliveries: 1,
    endpoints: [{ ...endpoint, ...reason }],
    faults: [{ id: "api-1", of: "api", rule: { fault, calls: mark("fault-calls") }, left: 1 }],
    deliveries: [],
    calls: [call],
    contactEvents: [{ ...contactEvent, properties: { [mark("property")]: 1 } }],
  };
}

/** Gives the page {@link ANSWERS} instead of the real ones, and markup in the error of every change. */
async function answerWithMarkup(page: Page): Promise<void> {
  await page.route("**/api/**", async (route) => {
    const request = route.request();
    if (request.method() === "POST") {
      await route.fulfill({ status: 400, json: { code: "invalid_argument", message: mark("refusal") } });
      return;
    }
    const answer = ANSWERS[new URL(request.url()).pathname];
    if (answer === undefined) return route.continue();
    const real = await route.fetch();
    const fields = real.ok() ? ((await real.json()) as object) : {};
    await route.fulfill({ status: 200, json: answer(fields) });
  });
}

describe.skipIf(mustSkipBrowserTests())("text of other programs in the dev server's messages", () => {
  let browser: Browser;

  beforeAll(async () => void (browser = await launchBrowser()));
  afterAll(() => browser.close());

  test("tunnel, forwards, secrets, errors of handlers, contact events and refusals are shown as text only", async () => {
    const bench = await startWorkbench();
    const { page, problems, close } = await openPage(browser, bench.pageUrl);
    const always = "tunnel forward-types forward-target secret-name";
    await answerWithMarkup(page);
    await page.reload();
    await page.getByText("Waiting for the first delivery").waitFor();
    await seeMarks(page, always);
    await page.getByRole("button", { name: "Inbox" }).click();
    await page.getByRole("button", { name: "Show evt_1" }).click();
    await seeMarks(page, `${always} event-type handler reason first-error handler-error body`);
    await page.getByRole("toolbar", { name: "Event" }).getByRole("button", { name: "Retry" }).click();
    await seeMarks(page, "refusal");
    await page.getByRole("region", { name: "Contact events" }).getByRole("button", { name: "all" }).click();
    await seeMarks(page, `${always} name contact code param message key`);
    await page.getByRole("table", { name: "Contact events" }).locator("tbody tr").click();
    await page.getByRole("region", { name: "Contact event", exact: true }).waitFor();
    await seeMarks(page, `${always} name contact code param message key remote-id sent-body`);
    await page.getByRole("button", { name: "Sandbox" }).click();
    await seeMarks(page, `${always} api-url endpoint-url endpoint-type off-reason fault-kind fault-code fault-calls`);
    await seeMarks(page, "call call-code call-fault stored-name stored-email");
    await expectNoMarkup(page);
    // Refused by the security policy would be seen here too.
    expect(problems).toEqual([]);
    await close();
    await bench.close();
  });
});
