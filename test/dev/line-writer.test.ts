import { describe, expect, test } from "vitest";
import type { CaptureAttempt, CaptureSummary, CaptureVerdict, HeaderList } from "#pigeonhole/capture/model/capture.js";
import { formatJsonLine } from "#pigeonhole/dev/lines/dev-event.js";
import type { Tone } from "#pigeonhole/dev/lines/event-line.js";
import { createLineWriter } from "#pigeonhole/dev/lines/line-writer.js";
import { makeAttempt } from "../support/captures.js";
import type { DevEvent } from "#pigeonhole/dev/lines/dev-event.js";

const NASTY = "\u001b[2J\u009b31m\r\n\u202eevil\u2028";
const at = new Date(2026, 0, 2, 14, 2, 11).getTime();

const capture: CaptureSummary = {
  id: "cap_1k7m2p9qx3f8ab0",
  receivedAt: new Date(at).toISOString(),
  source: "live",
  verdict: "ok",
  type: "email.received",
  eventId: "evt_1",
  lastEventId: "evt_1",
  earlierEventIds: [],
  subject: "a@example.com",
  attempts: 1,
  status: 200,
  outcome: null,
  notReceived: false,
  ms: 12,
  error: null,
  size: 10,
  tags: [],
  pinned: false,
  replayed: false,
  resigned: false,
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

describe("a line of the log", () => {
  test.each<[string, DevEvent, string]>([
    ["an event without a handler", { kind: "no_handler", capture, eventId: "evt_1" }, "! no handler got it  3f8ab0"],
    ["dead", failed, "✗ handler crm dead  3f8ab0  attempts_spent: Error: no such customer"],
    [
      "one that runs again",
      { ...failed, state: "pending", attempts: 2, reason: null, nextAt: new Date(at + 9_000).toISOString() },
      "! handler crm retrying, 2 of 14 attempts, next at 14:02:20  3f8ab0  Error: no such customer",
    ],
    [
      "one whose attempts are not known",
      {
        ...failed,
        state: "pending",
        attempts: 1,
        maxAttempts: null,
        reason: null,
        nextAt: new Date(at + 9_000).toISOString(),
      },
      "! handler crm retrying, 1 attempt, next at 14:02:20  3f8ab0  Error: no such customer",
    ],
    [
      "a parked event",
      { ...failed, handler: "", state: "parked", attempts: 0, reason: "bad_data", error: null },
      "! event parked  3f8ab0  bad_data",
    ],
  ])("a line of a handler that failed says how it goes on: %s", (_, event, expected) => {
    expect(createLineWriter().write(event, at)).toEqual([`14:02:11  email.received           ${expected}`]);
  });

  test("a line has time, type, verdict of the signature, status, duration and the short name of the capture", () => {
    expect(createLineWriter().write(forwarded)).toEqual([
      "14:02:11  email.received           ✓ signed     200               12ms  3f8ab0  a@example.com",
    ]);
  });

  const answered = (outcome: string) => [["x-pigeonhole-outcome", outcome]] as HeaderList;

  test.each<[string, Tone, string]>([
    ["accepted", "good", "✓ signed     200 accepted      12ms  3f8ab0  a@example.com"],
    ["duplicate", "good", "✓ signed     200 duplicate     12ms  3f8ab0  a@example.com"],
    [
      "parked",
      "warn",
      "! signed     200 parked        12ms  3f8ab0  Parked: not understood, so no handler ran · a@example.com",
    ],
  ])("a line has the outcome beside the status: %s is %s", (outcome, tone, expected) => {
    const tones: [Tone, string][] = [];
    const paint = (one: Tone, text: string): string => (tones.push([one, text]), text);
    const event: DevEvent = { ...forwarded, attempt: { ...attempt, headers: answered(outcome) } };
    expect(createLineWriter({ paint }).write(event)).toEqual([`14:02:11  email.received           ${expected}`]);
    expect(tones.find(([, text]) => text.startsWith("200"))?.[0]).toBe(tone);
  });

  test.each([
    [503, "! signed     503"],
    [404, "! signed     404"],
    [200, "✓ signed     200"],
  ])("the mark of a signed delivery that was answered %i is that of the answer", (status, expected) => {
    const event: DevEvent = { ...forwarded, answer: status, attempt: { ...attempt, status } };
    expect(createLineWriter().write(event)[0]).toContain(expected);
  });

  test("a line of a replay that is a duplicate is a warning that says that nothing ran", () => {
    const replayed: CaptureAttempt = { ...attempt, mode: "resign", kind: "replay", headers: answered("duplicate") };
    const [line] = createLineWriter().write({ kind: "replayed", capture, attempt: replayed }, at);
    expect(line).toContain("↻ re-signed  200 duplicate     12ms  3f8ab0  Not run: the receiver has this id · replay");
  });

  test("a line of a narrow terminal has the outcome too", () => {
    const event: DevEvent = { ...forwarded, attempt: { ...attempt, headers: answered("parked") } };
    expect(createLineWriter({ columns: () => 50 }).write(event)).toEqual(["14:02:11 email.received 200 parked"]);
  });

  test("a line of a replay has the short name of the replayed capture", () => {
    const { write } = createLineWriter();
    const [line] = write({ kind: "replayed", capture, attempt: { ...attempt, mode: "resign", kind: "replay" } }, at);
    expect(line).toBe(
      "14:02:11  email.received           ↻ re-signed  200               12ms  3f8ab0  replay, attempt 1",
    );
  });

  test("a line has the whole id if a user chose it", () => {
    const named = { ...capture, id: "order-shipped" };
    expect(
      createLineWriter()
        .write({ ...forwarded, capture: named })
        .join(),
    ).toContain(" 12ms  order-shipped  ");
  });

  test.each<[DevEvent, RegExp]>([
    [
      {
        ...forwarded,
        answer: 401,
        verdict: { ...verdict, code: "stale", skewSeconds: -412 },
      },
      /✗ stale {6}401 .*3f8ab0 {2}412 s old · a@example\.com/,
    ],
    [{ kind: "received", capture, verdict, answer: 202, from: "x" }, /202 {21}3f8ab0 {2}kept, not forwarded/],
    [
      {
        kind: "app_down",
        capture,
        verdict,
        answer: 503,
        from: "x",
        attempt: { ...attempt, status: null, error: "Nothing listens." },
      },
      /503 .*Nothing listens\./,
    ],
    [{ kind: "received", capture, verdict, answer: 503, from: "x" }, /503 .*not taken; the service sends it again/],
    [{ kind: "swept", endpointIds: ["whe_1"] }, /whe_1/],
    [{ kind: "tunnel", state: "down", program: "ngrok", restartMs: 1500 }, /ngrok ended; started again in 1\.5 s/],
  ])("the line of event %# says what happened", (event, words) => {
    expect(createLineWriter().write(event).join("\n")).toMatch(words);
  });

  test.each([0, undefined])("a line is complete on a terminal that reports %s columns", (known) => {
    expect(createLineWriter({ columns: () => known }).write(forwarded)).toEqual(createLineWriter().write(forwarded));
  });

  test("a line on a narrow terminal is time, type and status", () => {
    const { write } = createLineWriter({ columns: () => 40 });
    expect(write(forwarded)).toEqual(["14:02:11 email.received 200"]);
  });

  test("a line is never wider than the terminal, colour not counted", () => {
    const long = { ...capture, subject: "s".repeat(500) };
    const { write } = createLineWriter({ columns: () => 80, paint: (tone, text) => `<${tone}>${text}</${tone}>` });
    const [line = ""] = write({ ...forwarded, capture: long });
    expect(line).toContain("<good>");
    expect(line.replaceAll(/<\/?\w+>/g, "")).toHaveLength(80);
    expect(line.replaceAll(/<\/?\w+>/g, "")).toMatch(/…$/);
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
    const again = { ...failed, state: "pending", nextAt: new Date(at + 90_000).toISOString() } as DevEvent;
    expect(below(again, "")).toEqual(["          To run it now: npx pigeonhole inbox retry evt_1"]);
  });

  test("what runs again soon, or is in no known inbox, is followed by nothing", () => {
    const again = { ...failed, state: "pending", nextAt: new Date(at + 9_000).toISOString() } as DevEvent;
    expect([below(again, ""), below(failed)]).toEqual([[], []]);
  });
});

describe("the advice below a delivery", () => {
  const target = "http://127.0.0.1:3000/hooks";
  const html: HeaderList = [["Content-Type", "text/html; charset=utf-8"]];
  const outcome = (name: string): HeaderList => [["X-Pigeonhole-Outcome", name]];
  const unverified = outcome("unverified");
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
    ["a receiver that is not started", 503, outcome("not_started"), "The app did not call receiver.start()"],
    ["a parser in front", 503, outcome("body_consumed"), "Another parser of the app read the body first"],
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
    ["a receiver's 401", 401, [["x-pigeonhole-outcome", "unsigned"]], "missing"],
    ["a forged delivery that the app refused", 503, unverified, "mismatch"],
  ])("%s gets none", (_, status, headers, code) => {
    expect(adviceOf(status, headers, code)).toEqual([]);
  });
});

test("a JSON line has the version of its format and parses to the event, with the outcome of its attempt", () => {
  const headers: HeaderList = [["X-Pigeonhole-Outcome", "parked"]];
  const odd = { ...forwarded, capture: { ...capture, subject: NASTY }, attempt: { ...attempt, headers } };
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
