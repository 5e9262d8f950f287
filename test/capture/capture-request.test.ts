import { describe, expect, test } from "vitest";
import { TEST_SECRET } from "pigeonhole/testing";
import { bodyBytes, captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import { bodySize } from "#pigeonhole/capture/model/captured-body.js";
import { parseCapture } from "#pigeonhole/capture/model/parse-capture.js";
import { summarizeCapture } from "#pigeonhole/capture/model/summarize-capture.js";
import { makeAttempt, makeCapture, NOW } from "../support/captures.js";
import { errorOf } from "../support/error-of.js";

const OTHER_SECRET = `whsec_${"z".repeat(43)}`;

describe("the signature check of a capture", () => {
  test("a genuine capture names the secret that matched, and does not contain the secret", () => {
    const capture = makeCapture();
    expect(capture.verify).toMatchObject({ code: "ok", secretRef: "env:WEBHOOK_SECRET", skewSeconds: 0, fix: null });
    expect(capture.verify.summary).toContain("env:WEBHOOK_SECRET");
    expect(JSON.stringify(capture)).not.toContain(TEST_SECRET);
  });

  test("a stale capture has the skew as time of signing minus time of arrival", () => {
    const { request } = makeCapture();
    const capture = captureRequest({
      request: { ...request, body: bodyBytes(makeCapture({ body: request.body.data })) },
      receivedAt: NOW + 412_000,
      source: "live",
      secrets: [{ ref: "env:WEBHOOK_SECRET", value: TEST_SECRET }],
    });
    expect(capture.verify).toMatchObject({ code: "stale", skewSeconds: -412 });
    expect(capture.verify.fix).not.toBeNull();
  });

  test.each([
    ["mismatch", makeCapture({ secret: OTHER_SECRET })],
    ["missing", makeCapture({ headers: [] })],
    ["malformed", makeCapture({ headers: [["X-Svc-Signature", "t=1,v1=zz"]] })],
    ["malformed", makeCapture({ headers: [["X-Svc-Signature", "0".repeat(64)]] })],
  ])("a capture with the signature verdict %s says what to change (row %#)", (code, { verify }) => {
    expect(verify.code).toBe(code);
    expect(verify.fix).toEqual(expect.stringMatching(/\S{3}/));
  });

  test("a capture is not checked if no secret is known", () => {
    const { request } = makeCapture();
    const input = {
      request: { ...request, body: Buffer.from("{}") },
      receivedAt: NOW,
      source: "live",
      secrets: [],
    } as const;
    expect(captureRequest(input).verify.summary).toMatch(/^Not checked/);
  });
});

describe("the body of a capture", () => {
  test.each<[string, Uint8Array, string]>([
    ["text", Buffer.from('{"a":"é🕊"}\r\n'), "utf8"],
    ["a byte order mark", Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]), "utf8"],
    ["NUL", Buffer.from([0x61, 0, 0x62]), "utf8"],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0x7b, 0x80]), "base64"],
    ["half a character", Buffer.from([0xc3]), "base64"],
    ["nothing", Buffer.alloc(0), "utf8"],
  ])("a capture keeps a body byte for byte: %s", (_, body, encoding) => {
    const capture = parseCapture(JSON.parse(JSON.stringify(makeCapture({ body }))));
    expect(capture.request.body.encoding).toBe(encoding);
    expect(Buffer.from(bodyBytes(capture))).toEqual(Buffer.from(body));
    expect(bodySize(capture.request.body)).toBe(body.byteLength);
  });
});

test("a summary names the subject of the event", () => {
  const body = JSON.stringify({
    id: "evt_1",
    type: "email.bounced",
    createdAt: "2026-01-01T00:00:00Z",
    data: { to: ["a@b.example"], subject: "Hi" },
  });
  expect(summarizeCapture(makeCapture({ body }))).toMatchObject({
    type: "email.bounced",
    eventId: "evt_1",
    subject: "Hi · a@b.example",
    verdict: "ok",
    attempts: 0,
    status: null,
    size: body.length,
  });
  expect(summarizeCapture(makeCapture({ body: "not json" }))).toMatchObject({ type: null, subject: "" });
});

test.each([
  ["the captured id", null, "evt_1"],
  ["the new id", "evt_2", "evt_2"],
  ["no id", null, null],
])("a replay of an edited body with %s has that id in the summary", (_, eventId, sentId) => {
  const capture = makeCapture({ body: JSON.stringify({ id: "evt_1", type: "email.sent" }) });
  const data = JSON.stringify({ ...(sentId !== null && { id: sentId }), type: "email.opened" });
  const replayed = makeAttempt({ kind: "replay", eventId, sentBody: { encoding: "utf8", data } });
  const summary = summarizeCapture({ ...capture, attempts: [makeAttempt(), replayed] });
  expect(summary.lastEventId).toBe(sentId);
});

test("what the app refused is under no id in the summary, and what it may have taken is", () => {
  const capture = makeCapture({ body: JSON.stringify({ id: "evt_1", type: "email.sent" }) });
  const idsAfter = (...statuses: (number | null)[]) => {
    const { lastEventId, earlierEventIds } = summarizeCapture({
      ...capture,
      attempts: statuses.map((status) => makeAttempt({ status })),
    });
    return [lastEventId, ...earlierEventIds];
  };
  expect([idsAfter(), idsAfter(200), idsAfter(null)]).toEqual([["evt_1"], ["evt_1"], ["evt_1"]]);
  expect([idsAfter(503), idsAfter(200, 503)]).toEqual([[null], [null, "evt_1"]]);
});

test("ids sort by time and by the order in which they were made", () => {
  const ids = [NOW, NOW, NOW, NOW + 1, NOW + 60_000].map((at) => makeCapture({ at }).id);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(5);
});

test.each<[string, (capture: Record<string, unknown>) => unknown]>([
  ["v", ({ v: _v, ...rest }) => rest],
  ["id", (capture) => ({ ...capture, id: "../../etc/passwd" })],
  ["receivedAt", (capture) => ({ ...capture, receivedAt: "yesterday" })],
  [
    "request.headers",
    (capture) => ({ ...capture, request: { body: { encoding: "utf8", data: "" }, headers: { a: 1 } } }),
  ],
  ["request.body.data", (capture) => ({ ...capture, request: { body: { encoding: "base64", data: "%%%%" } } })],
  ["attempts[0].target", (capture) => ({ ...capture, attempts: [{}] })],
])("a file with a bad %s is refused, and the error names the field", async (field, spoil) => {
  const error = await errorOf(() => parseCapture(spoil({ ...makeCapture() })));
  expect(error.code).toBe("invalid_capture");
  expect(error.message).toContain(field);
});
