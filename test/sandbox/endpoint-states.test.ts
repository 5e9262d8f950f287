import { LIMITS } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";
import { START, openEndpoint, openOnClock, openProbe, openProbed, verdictOf } from "./support.js";
import { refusalOf } from "../support/error-of.js";

/** An endpoint that answers 500, and a way to fire several events. */
function openAnswering(options: Parameters<typeof openEndpoint>[0] = {}) {
  const opened = openEndpoint({ status: 500, ...options });
  const emit = async (times = 1): Promise<void> => {
    for (let index = 0; index < times; index += 1) opened.sandbox.emit("email.bounced");
    await opened.sandbox.settle();
  };
  return { ...opened, emit };
}

describe("failures in a row", () => {
  test("100 failures in a row disable the endpoint, with time and reason", async () => {
    const { endpoint, emit, sandbox } = openAnswering({ status: 404 });
    await emit(99);
    expect(endpoint()).toMatchObject({ enabled: true, consecutiveFailures: 99, disabledAt: null });
    await emit();
    expect(endpoint()).toMatchObject({
      enabled: false,
      consecutiveFailures: LIMITS.disableAfterFailures,
      disabledAt: new Date(START).toISOString(),
      disabledReason: expect.stringContaining("100"),
    });
    await emit();
    expect(sandbox.deliveries()).toHaveLength(100);
  });

  test("failures in a row are counted per attempt, including retries", async () => {
    const { endpoint, emit, sandbox } = openAnswering();
    await emit(13);
    await sandbox.advance("31h");
    expect(endpoint()).toMatchObject({ enabled: false, consecutiveFailures: 100 });
    expect(sandbox.deliveries()).toHaveLength(100);
  });

  test("failures in a row are reset by a success", async () => {
    const { answers, endpoint, emit } = openAnswering({ status: 404 });
    await emit(99);
    answers.status = 200;
    await emit();
    expect(endpoint()).toMatchObject({ enabled: true, consecutiveFailures: 0 });
    answers.status = 404;
    await emit(99);
    expect(endpoint().enabled).toBe(true);
  });

  test("failures in a row are reset, with time and reason, when the owner enables the endpoint again", async () => {
    const { endpoint, emit, sandbox, id } = openAnswering({ status: 404 });
    await emit(100);
    sandbox.endpoints.update(id, { enabled: true });
    const reset = { consecutiveFailures: 0, disabledAt: null, disabledReason: null };
    expect(endpoint()).toMatchObject({ enabled: true, ...reset });
  });

  test("failures in a row are kept when an enabled endpoint is enabled", async () => {
    const { endpoint, emit, sandbox, id } = openAnswering();
    await emit(3);
    sandbox.endpoints.update(id, { enabled: true });
    expect(endpoint().consecutiveFailures).toBe(3);
  });
});

test("an answer of 410 disables the endpoint and ends the delivery", async () => {
  const { endpoint, emit, sandbox } = openAnswering({ status: 410 });
  await emit();
  await sandbox.advance("31h");
  expect(endpoint()).toMatchObject({ enabled: false, disabledReason: expect.stringContaining("410") });
  expect(sandbox.deliveries()).toMatchObject([{ status: "failed", responseCode: 410, nextAttemptAt: null }]);
});

describe("a disabled endpoint", () => {
  test("an endpoint that its owner disabled has no time and no reason", () => {
    const { endpoint, sandbox, id } = openAnswering();
    sandbox.endpoints.update(id, { enabled: false });
    expect(endpoint()).toMatchObject({ enabled: false, disabledAt: null, disabledReason: null });
  });

  test("an endpoint never gets the events that were fired while it was disabled", async () => {
    const { answers, emit, sandbox, id } = openAnswering({ status: 200 });
    sandbox.endpoints.update(id, { enabled: false });
    expect(sandbox.emit("email.bounced").deliveries).toEqual([]);
    sandbox.endpoints.update(id, { enabled: true });
    await sandbox.advance("31h");
    expect(answers.posts).toBe(0);
    await emit();
    expect(answers.posts).toBe(1);
  });

  test("the log can be made to show events that were fired while their endpoint was disabled, to be replayed", async () => {
    const assumptions = { eventsOfDisabled: "logged" } as const;
    const { answers, endpoint, sandbox, id } = openAnswering({ status: 200, assumptions });
    sandbox.endpoints.update(id, { enabled: false });
    expect(sandbox.emit("email.bounced").deliveries).toEqual([]);
    const [row] = sandbox.deliveries();
    expect(row).toMatchObject({ status: "failed", attempt: 0, responseCode: null, nextAttemptAt: null });
    expect([answers.posts, sandbox.openDeliveries, endpoint().consecutiveFailures]).toEqual([0, 0, 0]);
    sandbox.endpoints.update(id, { enabled: true });
    await sandbox.advance("31h");
    expect(answers.posts).toBe(0);
    expect(await sandbox.endpoints.replay(id, row?.id ?? "")).toMatchObject({ status: "delivered", attempt: 1 });
  });

  test("events whose turn comes when the endpoint has just been disabled are shown once each", async () => {
    const { sandbox, emit } = openAnswering({ assumptions: { eventsOfDisabled: "logged" } });
    await emit(120);
    const rows = sandbox.deliveries();
    expect(rows.map(({ attempt }) => attempt)).toEqual([...Array<number>(100).fill(1), ...Array<number>(20).fill(0)]);
    expect(new Set(rows.map(({ eventId }) => eventId)).size).toBe(120);
  });

  test.each([
    ["dropped", 1],
    ["kept", 2],
  ] as const)("a disabled endpoint has its planned retries %s", async (retriesOfDisabled, posts) => {
    const { answers, emit, sandbox, id } = openAnswering({ assumptions: { retriesOfDisabled } });
    await emit();
    answers.status = 200;
    sandbox.endpoints.update(id, { enabled: false });
    sandbox.endpoints.update(id, { enabled: true });
    await sandbox.advance("31h");
    expect(answers.posts).toBe(posts);
  });

  test("a disabled endpoint gets no retry that is due while it is disabled, kept or not", async () => {
    const { answers, emit, sandbox, id } = openAnswering({ assumptions: { retriesOfDisabled: "kept" } });
    await emit();
    sandbox.endpoints.update(id, { enabled: false });
    await sandbox.advance("2m");
    sandbox.endpoints.update(id, { enabled: true });
    await sandbox.advance("31h");
    expect([answers.posts, sandbox.openDeliveries]).toEqual([1, 0]);
  });
});

describe("a replay", () => {
  test("a replay sends a failed delivery once more, as the same event with a new signature, without retries", async () => {
    const { sandbox, clock, probe, id, secret } = await openProbed((_, index) => (index === 0 ? 404 : 503));
    sandbox.emit("email.bounced");
    await sandbox.advance("1h");
    const [failed] = sandbox.deliveries();
    const row = await sandbox.endpoints.replay(id, failed?.id ?? "");
    expect(row).toMatchObject({ kind: "replay", attempt: 1, status: "failed", responseCode: 503, nextAttemptAt: null });
    const [first, second] = probe.got;
    expect(second?.body).toBe(first?.body);
    expect(verdictOf(second, secret, clock.now())).toMatchObject({ ok: true });
    expect(sandbox.endpoints.get(id).consecutiveFailures).toBe(2);
    await sandbox.advance("31h");
    expect(probe.got).toHaveLength(2);
  });

  test("a replay is refused for a delivered row, an unknown one, that of another endpoint, and a disabled endpoint", async () => {
    const { answers, emit, sandbox, id } = openAnswering({ status: 404 });
    await emit();
    answers.status = 200;
    await emit();
    const [failed, delivered] = sandbox.deliveries();
    const other = sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
    const replay = (...ids: [string, string]) => sandbox.endpoints.replay(...ids);
    const update = (enabled: boolean) => sandbox.endpoints.update(id, { enabled });
    const wrong = { status: 422, code: "invalid_parameter" };
    expect(await refusalOf(() => replay(id, delivered?.id ?? ""))).toEqual({ ...wrong, param: "deliveryId" });
    expect(await refusalOf(() => replay(id, "nothing"))).toMatchObject({ status: 404, code: "resource_not_found" });
    expect(await refusalOf(() => replay(other.id, failed?.id ?? ""))).toMatchObject({ status: 404 });
    update(false);
    expect(await refusalOf(() => replay(id, failed?.id ?? ""))).toEqual({ ...wrong, param: "id" });
    update(true);
    expect(await replay(id, failed?.id ?? "")).toMatchObject({ status: "delivered" });
  });
});

describe("a test delivery", () => {
  test("a test delivery is one signed email.sent with test: true and a note, for any subscription and a disabled endpoint", async () => {
    const { sandbox, clock } = openOnClock();
    const probe = await openProbe();
    const { id, secret } = sandbox.endpoints.create({ url: probe.url, eventTypes: ["domain.deleted"] });
    sandbox.endpoints.update(id, { enabled: false });
    const row = await sandbox.endpoints.test(id);
    expect(row).toMatchObject({ kind: "test", status: "delivered", responseCode: 200, error: null });
    expect(probe.got[0]?.event).toMatchObject({ type: "email.sent", data: { test: true, note: expect.any(String) } });
    expect(verdictOf(probe.got[0], secret, clock.now())).toMatchObject({ ok: true });
    expect(sandbox.deliveries({ kind: "test" })).toEqual([row]);
  });

  test.each([200, 404, 503])("a test delivery answered %d is tried once and changes no count", async (status) => {
    const { answers, emit, endpoint, sandbox, id } = openAnswering({ status: 404 });
    await emit(2);
    const before = endpoint();
    await sandbox.advance("1h");
    answers.status = status;
    await sandbox.endpoints.test(id);
    await sandbox.advance("31h");
    expect(endpoint()).toEqual(before);
    expect(answers.posts).toBe(3);
  });

  test("a test delivery answered 410 disables the endpoint", async () => {
    const { endpoint, sandbox, id } = openAnswering({ status: 410 });
    expect(await sandbox.endpoints.test(id)).toMatchObject({ status: "failed", responseCode: 410 });
    expect(endpoint()).toMatchObject({ enabled: false, consecutiveFailures: 0, lastDeliveryAt: null });
  });

  test("a test delivery to a receiver that hangs ends after 5 s, which the wait lets pass", async () => {
    const hanging = { limits: { patienceMs: 20 }, receive: () => new Promise<Response>(() => {}) };
    const { sandbox, clock, id } = openEndpoint(hanging);
    expect(await sandbox.endpoints.test(id)).toMatchObject({ status: "failed", responseCode: null, durationMs: 5_000 });
    expect(clock.now()).toBe(START + 5_000);
  });
});

test("deleting an endpoint ends its deliveries and removes its log", async () => {
  const { answers, emit, sandbox, id } = openAnswering();
  await emit(2);
  sandbox.endpoints.delete(id);
  await sandbox.advance("31h");
  expect([answers.posts, sandbox.deliveries(), sandbox.openDeliveries]).toEqual([2, [], 0]);
  expect(await refusalOf(() => sandbox.endpoints.delete(id))).toEqual({ status: 404, code: "resource_not_found" });
});
