import { describe, expect, test } from "vitest";
import type { CaptureSummary, CaptureVerdict, HeaderList } from "#pigeonhole/capture/model/capture.js";
import { summarizeCapture } from "#pigeonhole/capture/model/summarize-capture.js";
import { type DevEvent, formatJsonLine } from "#pigeonhole/dev/lines/dev-event.js";
import type { Tone } from "#pigeonhole/dev/lines/event-line.js";
import { createLineWriter } from "#pigeonhole/dev/lines/line-writer.js";
import { makeAttempt, makeCapture } from "../support/captures.js";

const NASTY = "\u001b[2J\u009b31m\r\n\u202eevil\u2028";
const at = new Date(2026, 0, 2, 14, 2, 11).getTime();

const capture: CaptureSummary = {
  ...summarizeCapture(makeCapture({ at })),
  id: "cap_1k7m2p9qx3f8ab0",
  type: "email.received",
  eventId: "evt_1",
  subject: "a@example.com",
};
const verdict: CaptureVerdict = { code: "ok", summary: "Genuine.", fix: null, skewSeconds: 0, secretRef: "env:S" };
const attempt = makeAttempt({ at: capture.receivedAt, ms: 12 });
const forwarded: Extract<DevEvent, { kind: "forwarded" }> = {
  kind: "forwarded",
  capture,
  verdict,
  answer: 200,
  from: "127.0.0.1",
  attempt,
};

const failed: DevEvent = {
  kind: "handler_failed",
  capture,
  eventId: "evt_1",
  handler: "crm",
  state: "dead",
  attempts: 14,
  maxAttempts: 14,
  reason: "attempts_spent",
  error: "Error: no such customer",
  nextAt: null,
};

const answered = (outcome: string) => [["x-pigeonhole-outcome", outcome]] as HeaderList;
/** The delivery with this answer. */
const answeredBy = (status: number, headers: HeaderList = []): DevEvent => ({
  ...forwarded,
  answer: status,
  attempt: { ...attempt, status, headers },
});
const replayedBy = (headers: HeaderList = []): DevEvent => {
  return { kind: "replayed", capture, attempt: { ...attempt, mode: "resign", kind: "replay", headers } };
};
const retried = { state: "pending", reason: null, nextAt: new Date(at + 9_000).toISOString() };
const row = { capture, verdict, from: "x" };

describe("a line of the log", () => {
  test.each<[string, DevEvent, string]>([
    ["a delivery", forwarded, "✓ signed     200               12ms  3f8ab0  a@example.com"],
    ["a duplicate", answeredBy(200, answered("duplicate")), "✓ signed     200 duplicate     12ms  3f8ab0  a@exam"],
    [
      "a parked one",
      answeredBy(200, answered("parked")),
      "! signed     200 parked        12ms  3f8ab0  Parked: not understood, so no handler ran · a@example.com",
    ],
    ["one that the app refused", answeredBy(503), "! signed     503               12ms  3f8ab0  a@example.com"],
    ["one that has no route", answeredBy(404), "! signed     404               12ms  3f8ab0  a@example.com"],
    ["a named capture", { ...forwarded, capture: { ...capture, id: "order-shipped" } }, "12ms  order-shipped  a@exam"],
    ["a replay", replayedBy(), "↻ re-signed  200               12ms  3f8ab0  replay, attempt 1"],
    [
      "a replay that ran nothing",
      replayedBy(answered("duplicate")),
      "↻ re-signed  200 duplicate     12ms  3f8ab0  Not run: the receiver has this id · replay",
    ],
    [
      "a stale one",
      { ...answeredBy(401), verdict: { ...verdict, code: "stale", skewSeconds: -412 } } as DevEvent,
      "✗ stale      401               12ms  3f8ab0  412 s old · a@example.com",
    ],
    [
      "one that is not forwarded",
      { kind: "received", ...row, answer: 202 },
      "202                     3f8ab0  kept, not f",
    ],
    [
      "one that is not taken",
      { kind: "received", ...row, answer: 503 },
      "3f8ab0  not taken; the service sends it again",
    ],
    [
      "one to an app that is down",
      { kind: "app_down", ...row, answer: 503, attempt: { ...attempt, status: null, error: "Nothing listens." } },
      "3f8ab0  Nothing listens.",
    ],
    ["an event without a handler", { kind: "no_handler", capture, eventId: "evt_1" }, "! no handler got it  3f8ab0"],
    [
      "work that runs again",
      { ...failed, ...retried, attempts: 2 },
      "! handler crm retrying, 2 of 14 attempts, next at 14:02:20  3f8ab0  Error: no such customer",
    ],
    [
      "work whose attempts are not known",
      { ...failed, ...retried, attempts: 1, maxAttempts: null },
      "! handler crm retrying, 1 attempt, next at 14:02:20  3f8ab0  Error: no such customer",
    ],
    [
      "a parked event",
      { ...failed, handler: "", state: "parked", attempts: 0, reason: "bad_data", error: null },
      "! event parked  3f8ab0  bad_data",
    ],
  ])("a line of %s says the time, the type and what became of it", (_, event, expected) => {
    const [line] = createLineWriter().write(event, at);
    expect(line).toMatch(/^14:02:11 {2}email\.received {11}/);
    expect(line).toContain(expected);
  });

  test.each([
    [answeredBy(200, answered("accepted")), "✓ signed     200 accepted      12ms  3f8ab0  a@example.com"],
    [failed, "✗ handler crm dead  3f8ab0  attempts_spent: Error: no such customer"],
  ])("a line ends with its last word, and no other follows it where there is no advice: row %#", (event, expected) => {
    expect(createLineWriter().write(event, at)).toEqual([`14:02:11  email.received           ${expected}`]);
  });

  test.each<[Tone, string]>([
    ["good", "accepted"],
    ["good", "duplicate"],
    ["warn", "parked"],
  ])("a line has the tone %s for %s", (tone, outcome) => {
    const tones: [Tone, string][] = [];
    const paint = (one: Tone, text: string): string => (tones.push([one, text]), text);
    createLineWriter({ paint }).write(answeredBy(200, answered(outcome)));
    expect(tones.find(([, text]) => text.startsWith("200"))?.[0]).toBe(tone);
  });

  test.each<[DevEvent, RegExp]>([
    [{ kind: "swept", endpointIds: ["whe_1"] }, /whe_1/],
    [{ kind: "tunnel", state: "down", program: "ngrok", restartMs: 1500 }, /ngrok ended; started again in 1\.5 s/],
  ])("the line of event %# says what happened", (event, words) => {
    expect(createLineWriter().write(event).join("\n")).toMatch(words);
  });

  test.each([0, undefined])("a line is complete on a terminal that reports %s columns", (known) => {
    expect(createLineWriter({ columns: () => known }).write(forwarded)).toEqual(createLineWriter().write(forwarded));
  });

  test("a line on a narrow terminal is time, type and answer", () => {
    const { write } = createLineWriter({ columns: () => 50 });
    expect(write(forwarded)).toEqual(["14:02:11 email.received 200"]);
    expect(write(answeredBy(200, answered("parked")))).toEqual(["14:02:11 email.received 200 parked"]);
  });

  test("a line is never wider than the terminal, colour not counted", () => {
    const long = { ...capture, subject: "s".repeat(500) };
    const { write } = createLineWriter({ columns: () => 80, paint: (tone, text) => `<${tone}>${text}</${tone}>` });
    const [line = ""] = write({ ...forwarded, capture: long });
    expect(line).toContain("<good>");
    const plain = line.replaceAll(/<\/?\w+>/g, "");
    expect(plain).toHaveLength(80);
    expect(plain).toMatch(/…$/);
  });
});

describe("text of a sender", () => {
  const nasty: DevEvent[] = [
    { ...forwarded, capture: { ...capture, type: NASTY, subject: NASTY } },
    { ...forwarded, verdict: { ...verdict, code: "mismatch", summary: NASTY } },
    { kind: "app_down", capture, verdict, answer: 503, from: NASTY, attempt: { ...attempt, error: NASTY } },
    { kind: "refused", reason: "wrong_path", status: 404, method: NASTY, path: NASTY, from: NASTY },
    { kind: "problem", what: NASTY, fix: NASTY },
    { ...failed, capture: { ...capture, type: NASTY }, handler: NASTY, reason: NASTY, error: NASTY },
    { kind: "tunnel", state: "starting", program: NASTY },
    {
      kind: "ready",
      captureUrl: "http://127.0.0.1:4400/webhooks",
      publicUrl: NASTY,
      pageUrl: null,
      inbox: NASTY,
      sandbox: null,
      forwards: [],
      secrets: [NASTY],
      captures: 0,
      broken: [{ file: NASTY, reason: NASTY }],
    },
  ];

  test.each(nasty.map((event) => [event.kind, event] as const))(
    "a line cannot send control characters to the terminal: %s (row %#)",
    (_, event) => {
      for (const line of [...createLineWriter().write(event), formatJsonLine(event)]) {
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      }
    },
  );
});

describe("the command below a failure", () => {
  /** The lines after the first, in a narrow terminal. */
  function below(event: DevEvent, inboxFlag?: string): string[] {
    return createLineWriter({ columns: () => 70, inboxFlag })
      .write(event, at)
      .slice(1);
  }

  test.each([
    ["dead", " --db '/app/data/my inbox.db'"],
    ["parked", ""],
  ])("what is %s is followed by how it goes on, whole in a narrow terminal: %j", (state, flag) => {
    const command = `npx pigeonhole inbox retry evt_1${flag}`;
    expect(below({ ...failed, state }, flag)).toEqual([`          After a fix: ${command}`]);
    const missing: DevEvent = { kind: "no_handler", capture, eventId: "evt_1" };
    expect(below(missing, flag)).toEqual([`          Once there is one: ${command}`]);
  });

  test("what runs again in more than a minute is followed by how to run it now", () => {
    const later = { ...failed, ...retried, nextAt: new Date(at + 90_000).toISOString() };
    expect(below(later, "")).toEqual(["          To run it now: npx pigeonhole inbox retry evt_1"]);
  });

  test("what runs again soon, or is in no known inbox, is followed by nothing", () => {
    expect([below({ ...failed, ...retried }, ""), below(failed)]).toEqual([[], []]);
  });
});

describe("the advice below a delivery", () => {
  const target = "http://127.0.0.1:3000/hooks";
  const html: HeaderList = [["Content-Type", "text/html; charset=utf-8"]];
  const unverified = answered("unverified");
  const dated = (seconds: number): HeaderList => [
    ...unverified,
    ["date", new Date(at + seconds * 1_000).toUTCString()],
  ];

  function adviceOf(status: number, headers: HeaderList = [], code: CaptureVerdict["code"] = "ok"): string[] {
    const answered = makeAttempt({ at: capture.receivedAt, target, status, headers });
    return createLineWriter({ columns: () => 80 })
      .write({ ...forwarded, attempt: answered, answer: status, verdict: { ...verdict, code } }, at)
      .slice(1);
  }

  test.each<[string, number, HeaderList, string]>([
    ["a 404", 404, html, "The app has no POST route at /hooks: mount the receiver there, or give its path"],
    ["a 405", 405, [], "The app has no POST route at /hooks"],
    ["a 401", 401, [], "A login, key or CSRF check of the app refused it before the receiver"],
    ["a 403", 403, html, "A login, key or CSRF check of the app refused it before the receiver"],
    ["a 400", 400, [], "mount the receiver above express.json()"],
    ["a redirect", 307, html, "The service follows no redirect, so the event would be lost"],
    ["a receiver that is not started", 503, answered("not_started"), "The app did not call receiver.start()"],
    ["a parser in front", 503, answered("body_consumed"), "Another parser of the app read the body first"],
    ["a page", 200, html, "An HTML page is no answer of a receiver: another route of the app takes /hooks."],
    ["a page of an app that fails", 500, html, "The app answered with its error page, since something in it failed"],
    ["a page of a proxy", 503, html, "A proxy or host answered with an HTML page, not the app"],
    ["another secret", 503, unverified, "The app has another secret than env:S: give both the same WEBHOOK_SECRET."],
    ["a clock within the tolerance", 503, dated(-299), "The app has another secret than env:S: give"],
    ["a cause that is not known", 503, unverified, "WEBHOOK_SECRET. Or its clock is over 5 minutes off."],
    ["a clock ahead", 503, dated(3_600), "The app's clock is 60 minutes ahead of this machine's, more than the 5"],
    ["a clock behind", 503, dated(-360), "The app's clock is 6 minutes behind this machine's, more than the 5"],
  ])("%s gets a line of advice, whole in a narrow terminal", (_, status, headers, words) => {
    expect(adviceOf(status, headers)).toEqual([expect.stringMatching(/^ {10}! /)]);
    expect(adviceOf(status, headers)[0]).toContain(words);
  });

  test("a page in place of a receiver's answer is no success", () => {
    const tones: Record<string, Tone> = {};
    const writer = createLineWriter({ columns: () => 80, paint: (tone, text) => ((tones[text.trim()] = tone), text) });
    const page = makeAttempt({ at: capture.receivedAt, target, status: 200, headers: html });
    expect(writer.write({ ...forwarded, attempt: page }, at)[0]).toContain("! signed");
    expect(tones["200"]).toBe("warn");
  });

  test("what was replayed gets it too", () => {
    const answered = makeAttempt({ at: capture.receivedAt, target, status: 404, mode: "resign" });
    const [, ...advice] = createLineWriter().write({ kind: "replayed", capture, attempt: answered }, at);
    expect(advice).toEqual([expect.stringContaining("The app has no POST route at /hooks")]);
  });

  test.each<[string, number, HeaderList, CaptureVerdict["code"]]>([
    ["a success", 200, [], "ok"],
    ["an error of the app", 500, [], "ok"],
    ["a receiver's 401", 401, answered("unsigned"), "missing"],
    ["a forged delivery that the app refused", 503, unverified, "mismatch"],
  ])("%s gets none", (_, status, headers, code) => {
    expect(adviceOf(status, headers, code)).toEqual([]);
  });
});

test("a JSON line has the version of its format and parses to the event, with the outcome of its attempt", () => {
  const odd = { ...answeredBy(200, answered("parked")), capture: { ...capture, subject: NASTY } };
  const head = { schemaVersion: 1, at: new Date(at).toISOString() };
  expect(JSON.parse(formatJsonLine(odd, at))).toEqual({ ...head, ...odd, outcome: "parked" });
  expect(JSON.parse(formatJsonLine(forwarded, at))).toEqual({ ...head, ...forwarded, outcome: null });
  expect(JSON.parse(formatJsonLine(failed, at))).toEqual({ ...head, ...failed });
});

test("the first lines show where to send, where deliveries are forwarded and where to look", () => {
  const lines = createLineWriter().write({
    kind: "ready",
    captureUrl: "http://127.0.0.1:4400/webhooks",
    publicUrl: "https://abc.example.com/webhooks",
    pageUrl: "http://127.0.0.1:4401/?t=token",
    inbox: null,
    sandbox: "http://127.0.0.1:4410",
    forwards: [
      { types: "email.*", target: "http://127.0.0.1:3000/" },
      { types: "*", target: "http://127.0.0.1:3001/" },
    ],
    secrets: ["env:WEBHOOK_SECRET"],
    captures: 0,
    broken: [],
  });
  expect(lines).toEqual([
    "  Receiving   http://127.0.0.1:4400/webhooks",
    "  Public      https://abc.example.com/webhooks",
    "  Forwarding  http://127.0.0.1:3000/  ← email.*",
    "  Forwarding  http://127.0.0.1:3001/",
    "  Inbox       not known  --inbox with the app's database shows what handlers do",
    "  Sandbox     http://127.0.0.1:4410  emulated service; fire events from the page or by POST /sandbox/emit",
    "  Inspect     http://127.0.0.1:4401/?t=token",
    "  Secret      env:WEBHOOK_SECRET",
    "  Ready.",
  ]);
});
