import { describe, expect, onTestFinished, test } from "vitest";
import { verifySignature } from "pigeonhole/protocol";
import { createTestReceiver, TEST_SECRET } from "pigeonhole/testing";
import { type Capture, recordAttempt } from "#pigeonhole/capture/model/capture.js";
import { changeEventId } from "#pigeonhole/capture/replay/build-replay.js";
import { compareJson } from "#pigeonhole/capture/json/compare-json.js";
import { editJson } from "#pigeonhole/capture/json/edit-json.js";
import { checkExpectation } from "#pigeonhole/capture/model/check-expectation.js";
import { replayCaptures, type ReplayOptions } from "#pigeonhole/capture/replay/replay-captures.js";
import { makeAttempt, makeCapture, NOW, serve, serveAnswers } from "../support/captures.js";
import { errorOf } from "../support/error-of.js";

const HOUR_AGO = Date.now() - 3_600_000;
const secret = TEST_SECRET;
const replay = (options: Partial<ReplayOptions> & Pick<ReplayOptions, "target">) =>
  replayCaptures({ captures: [makeCapture({ at: HOUR_AGO })], secret, ...options });

/** A real receiver behind node:http, with a count of its handler's runs. */
async function serveReceiver() {
  const receiver = createTestReceiver();
  const runs: string[] = [];
  receiver.on("*", ({ id }) => runs.push(id));
  await receiver.start();
  onTestFinished(() => receiver.stop({ timeoutMs: 0 }));
  return { url: await serve(receiver.middleware()), runs, receiver };
}

const outcomes = ({ attempts }: Awaited<ReturnType<typeof replayCaptures>>) =>
  attempts.map(
    ({ attempt }) => `${attempt.status} ${attempt.headers.find(([name]) => name === "x-pigeonhole-outcome")?.[1]}`,
  );

describe("replaying to a real receiver", () => {
  test("a real receiver accepts an old capture that is signed again, and recognises its id the second time", async () => {
    const { url, runs } = await serveReceiver();
    const report = await replay({ target: url, times: 2 });
    expect(outcomes(report)).toEqual(["200 accepted", "200 duplicate"]);
    expect(report).toMatchObject({ planned: 2, answered: 2, unanswered: 0, changed: 1, aborted: false });
    await expect.poll(() => runs).toHaveLength(1);
  });

  test("a real receiver runs its handlers again for the new id of each repetition", async () => {
    const { url, runs } = await serveReceiver();
    const report = await replay({ target: url, times: 3, identity: "new-id" });
    expect(outcomes(report)).toEqual(Array.from({ length: 3 }, () => "200 accepted"));
    await expect.poll(() => new Set(runs).size).toBe(3);
    expect(new Set(runs)).toEqual(new Set(report.attempts.map(({ attempt }) => attempt.eventId)));
  });

  test("a real receiver refuses a capture that is sent exact, since it is stale", async () => {
    const { url } = await serveReceiver();
    expect(outcomes(await replay({ target: url, mode: "exact" }))).toEqual(["503 unverified"]);
  });

  test("a real receiver accepts an edited body, since it is signed again", async () => {
    const { url, receiver } = await serveReceiver();
    const edit = { set: { id: "evt_edited", "data.recipient": "new@b.example" }, unset: ["data.subject"] };
    const report = await replay({ target: url, edit });
    expect(report.attempts[0]?.attempt).toMatchObject({ eventId: "evt_edited", mode: "resign", kind: "replay" });
    const body = Buffer.from((await receiver.inbox.get("evt_edited"))?.body ?? "").toString();
    expect(JSON.parse(body)).toMatchObject({ data: { recipient: "new@b.example" } });
    expect(body).not.toContain("subject");
    expect(body).toBe(report.attempts[0]?.attempt.sentBody?.data);
  });
});

describe("an edited body", () => {
  const edit = { set: { "data.recipient": "new@b.example" }, unset: [] };

  test.each([
    ["a new id by default, so a receiver that has the captured one runs it", undefined, "200 accepted", 2],
    ["the captured id when that is asked for", "same-id", "200 duplicate", 1],
  ] as const)("an edited body gets %s", async (_, identity, outcome, count) => {
    const { url, runs } = await serveReceiver();
    const captures = [makeCapture()];
    await replay({ captures, target: url });
    const report = await replay({ captures, target: url, edit, identity });
    expect(outcomes(report)).toEqual([outcome]);
    await expect.poll(() => runs.length).toBe(count);
    expect(report.attempts[0]?.attempt.eventId ?? captures[0]?.event.id).toBe(runs.at(-1));
  });

  test("an edited body that cannot be read is sent as it is, without a remark about its id", async () => {
    const { url, received } = await serveAnswers();
    const report = await replay({ target: url, edit: { body: "not json" } });
    expect([received[0]?.body.toString(), report.attempts[0]?.notes]).toEqual(["not json", []]);
  });
});

test("answers of one status and body differ when their outcomes do", async () => {
  const { url } = await serveReceiver();
  const report = await replay({ target: url, times: 3 });
  expect(report.attempts.map(({ comparison }) => comparison)).toEqual([
    null,
    {
      same: false,
      status: null,
      outcome: { before: "accepted", after: "duplicate" },
      json: [],
      bodyChanged: false,
    },
    { same: true, status: null, outcome: null, json: [], bodyChanged: false },
  ]);
});

describe("the request of a replay", () => {
  test("an exact replay sends the captured bytes and header list", async () => {
    const { url, received } = await serveAnswers();
    const capture = makeCapture({ at: HOUR_AGO, body: Buffer.from([0xff, 0x00, 0x80]) });
    await replay({ captures: [capture], target: url, mode: "exact" });
    const sent = received[0]?.rawHeaders.slice(0, capture.request.headers.length * 2 + 2) ?? [];
    expect(sent.slice(2)).toEqual(capture.request.headers.flat());
    expect(received[0]?.body).toEqual(Buffer.from([0xff, 0x00, 0x80]));
    expect(received[0]?.url).toBe("/webhooks");
  });

  test.each([
    ["resign", "1"],
    ["exact", undefined],
  ] as const)("a replay with the signature mode %s has a mark that it was signed here: %s", async (mode, mark) => {
    const { url, received } = await serveAnswers();
    await replay({ captures: [makeCapture({ at: HOUR_AGO })], target: url, mode });
    expect(received[0]?.headers["x-pigeonhole-signed-here"]).toBe(mark);
  });

  test("a replay that is signed again differs only in the signature's value and the mark, in the captured form", async () => {
    const { url, received } = await serveAnswers();
    const bare = makeCapture({
      headers: [
        ["X-Svc-Signature", "00".repeat(32)],
        ["X-Svc-Timestamp", "1"],
        ["A", "b"],
      ],
    });
    await replay({ captures: [bare], target: url });
    const [request] = received;
    expect(request?.rawHeaders.filter((_, index) => index % 2 === 0).slice(1, 4)).toEqual([
      "X-Svc-Signature",
      "X-Svc-Timestamp",
      "A",
    ]);
    expect(verifySignature({ body: request?.body ?? "", headers: request?.headers ?? {}, secrets: secret }).ok).toBe(
      true,
    );
  });

  test("a replay contains no secret, and neither does its report", async () => {
    const { url, received } = await serveAnswers();
    const report = await replay({ target: url });
    expect(JSON.stringify([received, report])).not.toContain(secret);
  });

  test("a replay goes to several targets, or to those of the capture", async () => {
    const [one, two] = [await serveAnswers(), await serveAnswers()];
    await replay({ target: [one.url, `${two.url}/other`] });
    await replay({ target: ({ event }) => (event.type === "email.bounced" ? [two.url] : []) });
    expect([one.received.length, two.received.map(({ url }) => url)]).toEqual([1, ["/other", "/webhooks"]]);
  });

  test.each([
    [undefined, "The captured bytes were sent, signed again."],
    [{ body: "{}" }, "It was sent as edited, signed again."],
  ])("a replay of a body without an id says what it sent (edited: %j)", async (edit, sent) => {
    const { url } = await serveAnswers();
    const captures = [makeCapture({ body: "not json" })];
    const report = await replay({ captures, target: url, identity: "new-id", edit });
    expect(report.attempts[0]).toMatchObject({
      notes: [`The body has no id that could be replaced by a new one. ${sent}`],
      attempt: { eventId: null },
    });
  });
});

test("a replay of a body that was cut says so", async () => {
  const { url } = await serveAnswers();
  const captures = [{ ...makeCapture({ body: '{"id":"evt_1' }), tags: ["cut"] }];
  const report = await replay({ captures, target: url });
  expect(report.attempts[0]?.notes).toEqual(["Only the beginning of its body was kept, and was sent."]);
});

describe("order and timing of replays", () => {
  const captures = Array.from({ length: 8 }, (_, n) =>
    makeCapture({ at: NOW + n * 1000, body: JSON.stringify({ id: `${n}`, type: "t" }) }),
  );
  test("a replay sends captures in the order of their arrival, each round after the other", async () => {
    const { url, received } = await serveAnswers();
    await replay({ captures: captures.slice(0, 3).toReversed(), target: url, times: 2 });
    const ids = received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
    expect(ids.join("")).toBe("012012");
  });

  test("a replay stops when it is aborted, and says so", async () => {
    const { url } = await serveAnswers();
    const stop = new AbortController();
    const report = await replay({ captures, target: url, signal: stop.signal, onAttempt: () => stop.abort() });
    expect(report).toMatchObject({ planned: 8, aborted: true, answered: 1 });
  });
});

describe("comparing answers", () => {
  test("an answer is compared with the previous attempt, JSON by structure", async () => {
    const { url } = await serveAnswers((_, count) => ({
      headers: { "content-type": "application/json" },
      body: count === 3 ? '{"a":2,"at":3}' : '{"a":1,"at":3}',
    }));
    const report = await replay({ target: url, times: 3 });
    expect(report.attempts.map(({ comparison }) => comparison?.same)).toEqual([undefined, true, false]);
    expect(report.attempts[2]?.comparison?.json).toEqual([{ path: "$.a", kind: "changed", before: 1, after: 2 }]);
    expect(report.changed).toBe(1);
  });

  test("an answer is compared with the attempts of earlier runs, which the capture holds", async () => {
    let status = 200;
    const { url } = await serveAnswers(() => ({ status }));
    let capture: Capture = makeCapture();
    const run = async () => {
      const report = await replay({ captures: [capture], target: url });
      for (const { attempt } of report.attempts) capture = recordAttempt(capture, attempt);
      return report;
    };
    await run();
    status = 500;
    expect((await run()).attempts[0]?.comparison?.status).toEqual({ before: 200, after: 500 });
    expect(capture.attempts.map(({ n }) => n)).toEqual([1, 2]);
  });

  test("an answer is compared with an expectation", () => {
    const answer = makeAttempt({ status: 404, headers: [], body: { encoding: "utf8", data: "{}" } });
    expect(checkExpectation({ status: "2xx", outcome: "accepted", json: { ok: true } }, answer)).toEqual([
      "Answered 404, expected 2xx.",
      "The answer has no x-pigeonhole-outcome, expected accepted.",
      "$.ok is gone, was true.",
    ]);
    expect(() => checkExpectation({ status: "good" }, answer)).toThrow("must be such as 2xx");
  });

  test("a replay reports a missing answer as a failure and does not throw", async () => {
    const report = await replay({ target: "1" });
    expect(report).toMatchObject({ answered: 0, unanswered: 1, attempts: [{ failure: "refused" }] });
  });
});

test.each<[string, Partial<ReplayOptions>, string]>([
  ["exact with an edit", { mode: "exact", edit: { body: "{}" } }, "invalid_argument"],
  ["exact with a new id", { mode: "exact", identity: "new-id" }, "invalid_argument"],
  [
    "exact of a redacted capture",
    { mode: "exact", captures: [{ ...makeCapture(), redaction: "default" }] },
    "invalid_argument",
  ],
  ["no secret", { secret: "" }, "invalid_secret"],
  ["a remote target", { target: "http://203.0.113.7/" }, "invalid_argument"],
])("a replay of %s is refused before anything is sent", async (_, options, code) => {
  const { url, received } = await serveAnswers();
  expect((await errorOf(() => replay({ target: url, ...options }))).code).toBe(code);
  expect(received).toEqual([]);
});

test.each([
  ['{"id":"a","x":{"id":"b"}}', '{"id":"N","x":{"id":"b"}}'],
  ['{ "x": ["id", {"id": "b"}],\r\n "id" :\t"a" }\n', '{ "x": ["id", {"id": "b"}],\r\n "id" :\t"N" }\n'],
  [String.raw`{"x":"\"id\":","id":"a\"b"}`, String.raw`{"x":"\"id\":","id":"N"}`],
  ['{"id":"first","id":"counts"}', '{"id":"first","id":"N"}'],
  [String.raw`{"\u0069d":"a"}`, String.raw`{"\u0069d":"N"}`],
  ['{"id":5}', undefined],
  ['["id","a"]', undefined],
  ["{", undefined],
])("a new id changes nothing else in %s", (text, wanted) => expect(changeEventId(text, "N")).toBe(wanted));

describe("editing JSON", () => {
  test("an edit creates missing objects on the way, and reaches into lists", () => {
    expect(editJson('{"a":[1,{"b":2}]}', { set: { "a.1.b": 3, "c.d": null, "a.2": "x" }, unset: ["a.0"] })).toBe(
      '{"a":[{"b":3},"x"],"c":{"d":null}}',
    );
  });

  test("an edit treats __proto__ as a name like any other", () => {
    expect(editJson("{}", { set: { "__proto__.polluted": 1 } })).toBe('{"__proto__":{"polluted":1}}');
    expect({}).not.toHaveProperty("polluted");
  });

  test.each([
    ["not json", "a"],
    ['{"a":1}', "a.b"],
    ['{"a":[]}', "a.5"],
    ["{}", "a..b"],
  ])("an edit refuses %s at %s", async (text, path) => {
    expect((await errorOf(() => editJson(text, { set: { [path]: 1 } }))).code).toBe("invalid_argument");
  });
});

test.each<[unknown, unknown, string[], string[]]>([
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, [], []],
  [{ a: [1, 2] }, { a: [1] }, [], ["$.a[1]"]],
  [1, 2, [], ["$"]],
  [{ a: null }, { a: {} }, [], ["$.a"]],
  [{ a: [] }, { a: {} }, [], ["$.a"]],
  [{ "x y": 1 }, { "x y": 2 }, [], ['$["x y"]']],
  [{ a: [{ id: 1, b: 1 }] }, { a: [{ id: 2, b: 2 }] }, ["$.a[*].id"], ["$.a[0].b"]],
  [{ a: { b: { at: 1 } } }, { a: { b: { at: 2 } } }, ["$..at"], []],
  [{ a: { b: 1 } }, { a: { b: 2 } }, ["$.a"], []],
  [{ a: 1 }, { a: 2 }, ["$"], []],
])("the comparison of %j and %j without %j differs at %j", (before, after, ignore, paths) => {
  expect(compareJson(before, after, ignore).map(({ path }) => path)).toEqual(paths);
});
