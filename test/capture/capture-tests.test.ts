import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DoNotRetry, type Receiver } from "pigeonhole";
import { createTestReceiver, replayDirectory, sampleEvent, TEST_SECRET } from "pigeonhole/testing";
import type { Capture, Expectation } from "#pigeonhole/capture/model/capture.js";
import { type CaptureTestOptions, runCaptureTests } from "#pigeonhole/capture/tests/run-capture-tests.js";
import { makeCapture, serve, serveAnswers } from "../support/captures.js";
import { errorOf } from "../support/error-of.js";
import { makeFolder } from "../support/folder.js";
import { stopAfterTest } from "../support/receiver.js";

const secret = TEST_SECRET;

function folderOf(...captures: Capture[]): string {
  const folder = makeFolder();
  for (const [index, capture] of captures.entries())
    writeFileSync(join(folder, `${index}.json`), JSON.stringify(capture));
  return folder;
}

const readBack = (folder: string, name = "0.json") => JSON.parse(readFileSync(join(folder, name), "utf8")) as Capture;
type Options = Partial<CaptureTestOptions> & Pick<CaptureTestOptions, "folder" | "target">;
const runTests = (options: Options) => runCaptureTests({ secret, ...options });
/** Of the first case. */
const failuresOf = async (options: Options) => (await runTests(options)).cases[0]?.failures;

describe("a folder of captures against a real receiver", () => {
  async function serveReceiver(register: (receiver: Receiver) => unknown = () => undefined) {
    const receiver = stopAfterTest(createTestReceiver());
    const runs: string[] = [];
    receiver.on("email.bounced", ({ id }) => void runs.push(id), { name: "count" });
    register(receiver);
    await receiver.start();
    const inspect = async (id: string) => (await receiver.inbox.get(id))?.handlers;
    return { target: await serve(receiver.middleware()), runs, inspect };
  }

  test("a folder of captures passes against a real receiver, repeatedly, each run under new ids", async () => {
    const { target, runs, inspect } = await serveReceiver();
    const folder = folderOf({
      ...makeCapture(),
      expect: { status: "200", outcome: "accepted", handlers: { count: "done" } },
    });
    for (let run = 0; run < 2; run += 1) {
      const report = await runTests({ folder, target, inspect, twice: true });
      expect(report).toMatchObject({
        passed: 1,
        failed: 0,
        cases: [{ failures: [], status: 200, outcome: "accepted" }],
      });
    }
    expect(new Set(runs).size).toBe(2);
  });

  test("a folder of captures fails against a real receiver if status, outcome or handlers are not as expected", async () => {
    const { target, inspect } = await serveReceiver();
    const folder = folderOf({
      ...makeCapture(),
      expect: { status: "4xx", outcome: "parked", handlers: { count: "dead", other: "done" } },
    });
    expect(await failuresOf({ folder, target, inspect, settleMs: 200 })).toEqual([
      "Answered 200, expected 4xx.",
      "The outcome was accepted, expected parked.",
      "Handler count is done, expected dead",
      "Handler other did not get the event.",
    ]);
  });

  test("a folder of captures against a real receiver fails on a handler that no expectation names", async () => {
    const folder = folderOf({ ...makeCapture(), expect: { handlers: { count: "done" } } });
    const fail = () => Promise.reject(new DoNotRetry("no such customer"));
    const { target, inspect } = await serveReceiver((receiver) => receiver.on("*", fail, { name: "lookup" }));
    const failure = expect.stringMatching(/^Handler lookup is dead, expected done: .*no such/) as string;
    expect(await failuresOf({ folder, target, inspect })).toEqual([failure]);
  });

  test("a folder of captures against a real receiver fails on a parked event, with the reason where the inbox is known", async () => {
    const { target, inspect } = await serveReceiver();
    const folder = folderOf(makeCapture({ body: JSON.stringify({ ...sampleEvent("email.sent"), createdAt: "noon" }) }));
    const parked = "The event was parked, since it was not understood, so no handler ran";
    expect(await failuresOf({ folder, target })).toEqual([`${parked}.`]);
    const { cases } = await runTests({ folder, target, inspect });
    expect(cases[0]?.failures).toEqual([expect.stringContaining(`${parked}: bad_envelope: `)]);
    expect(cases[0]?.handlers).toMatchObject([{ handler: "", state: "parked" }]);
  });

  test("a folder of captures against a real receiver fails on an event that no handler gets, unless that is expected", async () => {
    const { target, inspect } = await serveReceiver();
    const unhandled = makeCapture({ body: JSON.stringify(sampleEvent("email.sent")) });
    expect(await failuresOf({ folder: folderOf(unhandled), target, inspect })).toEqual([
      'No handler got the event: none is registered for email.sent. If that is intended, write "handlers": {} into the capture\'s field expect.',
    ]);
    const expected = folderOf({ ...unhandled, expect: { handlers: {} } });
    expect(await runTests({ folder: expected, target, inspect })).toMatchObject({ passed: 1 });
    // What handlers do with the service's own test is up to them.
    const own = sampleEvent("email.sent", { test: true });
    const test = folderOf(makeCapture({ body: JSON.stringify(own) }));
    expect(await runTests({ folder: test, target, inspect })).toMatchObject({ passed: 1 });
    // Without an inbox it is not known.
    expect(await runTests({ folder: folderOf(unhandled), target })).toMatchObject({ passed: 1 });
  });

  test.each<[string, Expectation]>([
    ["its outcome", { outcome: "parked" }],
    ["the state of its note", { handlers: { "": "parked" } }],
  ])(
    "a folder of captures against a real receiver passes a parked event that is expected by %s",
    async (_, expected) => {
      const { target, inspect } = await serveReceiver();
      const body = JSON.stringify({ ...sampleEvent("email.sent"), createdAt: "noon" });
      const folder = folderOf({ ...makeCapture({ body }), expect: expected });
      expect(await failuresOf({ folder, target, inspect })).toEqual([]);
    },
  );

  test("a folder of captures against a real receiver waits for the end of a handler that the file expects to be dead", async () => {
    const fail = () => Promise.reject(new Error("away"));
    const { target, inspect } = await serveReceiver((receiver) =>
      receiver.on("email.bounced", fail, { name: "late", retry: { maxAttempts: 2, initialMs: 5 } }),
    );
    const folder = folderOf({ ...makeCapture(), expect: { handlers: { count: "done", late: "dead" } } });
    expect(await failuresOf({ folder, target, inspect })).toEqual([]);
  });

  test("a run with update writes the answers as expectations, and the next run passes", async () => {
    const { target, inspect } = await serveReceiver();
    const folder = folderOf({ ...makeCapture(), expect: { status: "500", ignore: ["$.at"] } });
    expect((await runTests({ folder, target, inspect, update: true })).cases[0]).toMatchObject({
      passed: true,
      updated: true,
    });
    expect(readBack(folder).expect).toEqual({
      status: "200",
      outcome: "accepted",
      handlers: { count: "done" },
      ignore: ["$.at"],
    });
    expect((await runTests({ folder, target, inspect })).passed).toBe(1);
  });
});

describe("a folder of captures against any app", () => {
  test("a test fails if the app does not treat the second delivery as a duplicate", async () => {
    const { url } = await serveAnswers(() => ({ headers: { "x-pigeonhole-outcome": "accepted" } }));
    const folder = folderOf(makeCapture());
    expect(await failuresOf({ folder, target: url, twice: true })).toEqual([
      "Second delivery: The outcome was accepted, expected duplicate.",
    ]);
  });

  test("a test that names no outcome only asks for a 2xx answer to the second delivery", async () => {
    const { url, received } = await serveAnswers((_, count) => ({ status: count < 3 ? 200 : count }));
    expect((await runTests({ folder: folderOf(makeCapture()), target: url, twice: true })).failed).toBe(0);
    expect(received[0]?.body).toEqual(received[1]?.body);
  });

  test("a test compares JSON without the fields that may differ", async () => {
    const { url } = await serveAnswers((_, count) => ({ body: JSON.stringify({ ok: count < 2, at: count }) }));
    const folder = folderOf({ ...makeCapture(), expect: { json: { ok: true, at: 0 }, ignore: ["$.at"] } });
    expect((await runTests({ folder, target: url })).failed).toBe(0);
    expect(await failuresOf({ folder, target: url })).toEqual(["$.ok is false, was true."]);
  });

  test("a test reports a missing answer as such, and an update leaves the file alone", async () => {
    const folder = folderOf(makeCapture());
    const report = await runTests({ folder, target: "http://127.0.0.1:1", update: true });
    expect(report).toMatchObject({
      failed: 1,
      unanswered: 1,
      cases: [{ failure: "refused", updated: false, status: null }],
    });
    expect(readBack(folder)).not.toHaveProperty("expect");
  });

  test("a broken file or an empty folder stops the run, since a skipped test would pass", async () => {
    const folder = folderOf(makeCapture());
    writeFileSync(join(folder, "broken.json"), "{");
    expect((await errorOf(() => runTests({ folder, target: "1" }))).message).toContain("broken.json");
    expect((await errorOf(() => runTests({ folder: makeFolder(), target: "1" }))).code).toBe("no_capture");
  });
});

describe("replayDirectory", () => {
  const folder = () => folderOf(makeCapture(), makeCapture({ body: JSON.stringify(sampleEvent("email.sent")) }));

  test("replayDirectory replays to a receiver in the process", async () => {
    const receiver = stopAfterTest(createTestReceiver());
    const types: string[] = [];
    receiver.on("*", ({ type }) => void types.push(type));
    expect(await replayDirectory(folder(), receiver, { twice: true })).toMatchObject({ passed: 2, failed: 0 });
    expect(types.toSorted()).toEqual(["email.bounced", "email.sent"]);
  });

  test("replayDirectory rejects with the name and the error of every handler that failed", async () => {
    const receiver = stopAfterTest(createTestReceiver());
    receiver.on("email.sent", () => Promise.reject(new DoNotRetry("no such customer")), { name: "lookup" });
    receiver.on("email.bounced", () => undefined);
    const error = await errorOf(() => replayDirectory(folder(), receiver));
    expect(error.code).toBe("captures_failed");
    expect(error.message).toMatch(
      /^1 of 2 captures.*\nemail\.sent cap_.*1\.json\)\n {4}Handler lookup is dead, expected done: .*no such customer/s,
    );
    expect((await replayDirectory(folder(), receiver, { returnFailures: true })).failed).toBe(1);
  });

  test("replayDirectory rejects if the receiver does not know the secret", async () => {
    const receiver = stopAfterTest(createTestReceiver({ secrets: `whsec_${"o".repeat(43)}` }));
    expect((await errorOf(() => replayDirectory(folder(), receiver))).message).toContain("Answered 503, expected 2xx.");
  });

  test("replayDirectory replays to a URL", async () => {
    const { url, received } = await serveAnswers();
    await replayDirectory(folder(), { url: `${url}/hooks`, secret });
    expect(received.map((one) => one.url)).toEqual(["/hooks", "/hooks"]);
  });
});

describe("a capture file that was edited by hand", () => {
  test.each<[string, unknown]>([
    ["expect.status must be a string", { status: 200 }],
    ["expect.status must be such as 2xx or 503", { status: "ok" }],
    ["expect must be a JSON object", "2xx"],
    ["expect.handlers must be a JSON object", { handlers: ["done"] }],
    ["expect.handlers must be a string", { handlers: { welcome: true } }],
    ["expect.contactEvents must be a JSON object", { contactEvents: "dead" }],
    ["expect.contactEvents must be a string", { contactEvents: { welcome: null } }],
    ["expect.ignore must be a list", { ignore: "$.requestId" }],
    ["expect.outcome must be a string", { outcome: 1 }],
  ])("a capture file that was edited by hand is refused with the mistake: %s", async (problem, expected) => {
    const { url } = await serveAnswers();
    const folder = makeFolder();
    writeFileSync(join(folder, "hand.json"), JSON.stringify({ ...makeCapture(), expect: expected }));
    const error = await errorOf(() => runTests({ folder, target: url }));
    expect(error).toMatchObject({ code: "invalid_capture" });
    expect(error.message).toContain(join(folder, "hand.json"));
    expect(error.message).toContain(problem);
  });

  test.each<[string, unknown]>([
    ["attempts[0].n must be a whole number", { n: "1" }],
    ["attempts[0].at is no ISO 8601 time", { at: "yesterday" }],
    ["attempts[0].ms must be a number", { ms: "fast" }],
    ["attempts[0].kind must be one of forward, replay", { kind: "again" }],
  ])("a capture file with an attempt that cannot be shown is refused: %s", async (problem, wrong) => {
    const folder = makeFolder();
    const attempt = { target: "http://127.0.0.1:1/", status: 200, headers: [], sentHeaders: [], body: null };
    const attempts = [{ ...attempt, ...(wrong as object) }];
    writeFileSync(join(folder, "hand.json"), JSON.stringify({ ...makeCapture(), attempts }));
    const error = await errorOf(() => runTests({ folder, target: "1" }));
    expect(error.message).toContain(problem);
  });
});
