import { createClient } from "pigeonhole/client";
import { createManualClock } from "#pigeonhole/base/manual-clock.js";
import { createSandbox } from "pigeonhole/sandbox";
import { describe, expect, test, vi } from "vitest";
import {
  HOUR,
  MINUTE,
  START,
  openOnClock,
  openProbe,
  openSandbox,
  verdictOf,
  fire,
  openEndpoint,
  openProbed,
} from "./support.js";
import { refusalOf } from "../support/error-of.js";

describe("the manual clock", () => {
  test("a manual clock needs no real timer, since 28 hours of retries run with all timers disabled", async () => {
    const broken = (): never => {
      throw new Error("a real timer was set");
    };
    vi.stubGlobal("setTimeout", broken);
    vi.stubGlobal("setInterval", broken);
    try {
      const sandbox = createSandbox({ clock: "manual", receive: () => new Response(null, { status: 503 }) });
      sandbox.endpoints.create({ url: "http://127.0.0.1/" });
      sandbox.emit("email.sent");
      await sandbox.advance("31h");
      expect(sandbox.deliveries()).toHaveLength(8);
      await sandbox.close();
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("a manual clock begins at the current time for a receiver with the machine's clock, and signs with that", async () => {
    const probe = await openProbe();
    const sandbox = openSandbox({ receiverTime: "machine" });
    expect(Math.abs(sandbox.clock.now() - Date.now())).toBeLessThan(10_000);
    const { secret } = sandbox.endpoints.create({ url: probe.url });
    await sandbox.advance("28h");
    await fire(sandbox);
    expect(verdictOf(probe.got[0], secret, Date.now())).toMatchObject({ ok: true });
  });

  test("a manual clock begins at the given time, and moves by exactly the given duration", async () => {
    const sandbox = openSandbox({ clock: createManualClock(START + HOUR) });
    await sandbox.advance("1h30m");
    await sandbox.advance(250);
    expect(sandbox.clock.now()).toBe(START + 2.5 * HOUR + 250);
  });

  test.each(["soon", "1", "-1h", "1h ", -1, Number.NaN])("a manual clock refuses to move by %j", async (by) => {
    const sandbox = openSandbox();
    expect(await refusalOf(() => sandbox.advance(by))).toEqual({ code: "invalid_argument" });
    expect(sandbox.clock.now()).toBe(START);
  });

  test("a manual clock can be moved from attempt to attempt", async () => {
    const { sandbox, clock } = openEndpoint({ status: 500 });
    expect(await sandbox.advanceToNextAttempt()).toBeUndefined();
    sandbox.emit("email.sent");
    const steps: number[] = [];
    for (let attempt = 2; attempt <= 8; attempt += 1) {
      steps.push((await sandbox.advanceToNextAttempt()) ?? 0);
      expect(sandbox.deliveries()).toHaveLength(attempt);
    }
    expect(steps.reduce((a, b) => a + b)).toBe(clock.now() - START);
    expect(await sandbox.advanceToNextAttempt()).toBeUndefined();
  });

  test("a manual clock can be moved to the next attempt of one event, past those of others", async () => {
    const { sandbox, clock } = openEndpoint({ status: 500 });
    const { event: first } = sandbox.emit("email.sent");
    await sandbox.advance(HOUR);
    const { event: second } = await fire(sandbox);
    const due = (id: string) => sandbox.plannedAttempts.find(({ eventId }) => eventId === id)?.dueAtMs ?? Number.NaN;
    expect(due(first.id)).toBeGreaterThan(due(second.id));
    const dueAtMs = due(first.id);
    await sandbox.advanceToNextAttempt(first.id);
    expect(clock.now()).toBe(dueAtMs);
    expect(await sandbox.advanceToNextAttempt("evt_none")).toBeUndefined();
  });

  test("a manual clock moves only when the attempts of a moment are answered, and in their order", async () => {
    const seen: string[] = [];
    const { sandbox, clock } = openOnClock({
      async receive(request) {
        const { id } = (await request.json()) as { id: string };
        seen.push(`> ${id} ${clock.now()}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        seen.push(`< ${id} ${clock.now()}`);
        return new Response(null, { status: 500 });
      },
    });
    sandbox.endpoints.create({ url: "http://127.0.0.1/" });
    for (const id of ["a", "b", "c"]) sandbox.emit("email.sent", {}, { id });
    await sandbox.advance("10m");
    expect(seen).toHaveLength(18);
    for (let index = 0; index < seen.length; index += 2) {
      expect(seen[index + 1]).toBe(seen[index]?.replace(">", "<"));
    }
  });

  test("a manual clock gives the same log in every run with one seed", async () => {
    const run = async (seed: string) => {
      const probe = await openProbe((_, index) => (index % 3 === 0 ? 200 : 503));
      const { sandbox } = openOnClock({ seed });
      for (const n of [1, 2]) sandbox.endpoints.create({ url: `${probe.url}/${n}` });
      for (const type of ["email.sent", "email.bounced", "email.received"]) sandbox.emit(type);
      await sandbox.advance("31h");
      return [
        sandbox.deliveries(),
        probe.got.map(({ body, path, headers }) => [body, path, headers["x-svc-signature"]]),
      ];
    };
    const first = await run("again");
    expect(first[0]?.length).toBeGreaterThan(10);
    expect(await run("again")).toEqual(first);
    expect(await run("another")).not.toEqual(first);
  });
});

test("two calls that move to the next attempt get one attempt each", async () => {
  const { sandbox, clock } = openEndpoint({ status: 503 });
  sandbox.emit("email.sent");
  const [first = 0, second = 0] = await Promise.all([sandbox.advanceToNextAttempt(), sandbox.advanceToNextAttempt()]);
  expect(sandbox.deliveries().map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect([second > 4 * MINUTE, clock.now()]).toEqual([true, START + first + second]);
});

describe("other clocks", () => {
  test("on a clock whose timers are late, of planned attempts that are overdue the first due is first", () => {
    let nowMs = START;
    const clock = { now: () => nowMs, setTimer: () => ({ cancel: () => undefined }) };
    const { sandbox } = openEndpoint({ clock });
    for (const delayMs of [2 * MINUTE, MINUTE]) {
      sandbox.faults.deliveries.add({ fault: { kind: "delay", delayMs }, times: 1 });
    }
    const ids = ["second", "first"].map((id) => sandbox.emit("email.sent", {}, { id }).event.id);
    nowMs += HOUR;
    const planned = ids.toReversed().map((eventId) => ({ eventId, dueAtMs: nowMs }));
    expect(sandbox.plannedAttempts).toMatchObject(planned);
  });

  test("a fast clock passes an hour in a moment, and signs with the receiver's time", async () => {
    const probe = await openProbe(() => 503);
    const sandbox = openSandbox({ clock: { speed: 100_000 } });
    sandbox.endpoints.create({ url: probe.url });
    sandbox.emit("email.sent");
    // However slow the machine is just now, the attempts go on for 27 hours.
    const later = await sandbox.waitFor({ type: "email.*", answered: 503, sinceMs: Date.now() + HOUR });
    expect(Date.parse(later.createdAt) - Date.now()).toBeGreaterThan(HOUR / 2);
    const signedAt = Number(/t=(\d+)/.exec(String(probe.got.at(-1)?.headers["x-svc-signature"]))?.[1]) * 1_000;
    expect(Math.abs(signedAt - Date.now())).toBeLessThan(10_000);
  });

  test("a real clock delivers and cannot be moved", async () => {
    const probe = await openProbe();
    const sandbox = openSandbox({ clock: "real" });
    sandbox.endpoints.create({ url: probe.url });
    sandbox.emit("email.sent");
    expect(await sandbox.waitFor({ answered: "2xx" })).toMatchObject({ status: "delivered" });
    expect(await refusalOf(() => sandbox.advance("1h"))).toEqual({ code: "invalid_argument" });
  });

  test("an advanceable clock runs by itself, can be moved ahead, and signs with the receiver's time", async () => {
    const probe = await openProbe((_, index) => (index < 3 ? 503 : 200));
    const sandbox = openSandbox({ clock: "advanceable" });
    sandbox.endpoints.create({ url: probe.url });
    sandbox.faults.deliveries.add({ fault: { kind: "delay", delayMs: 20 }, attempt: 1 });
    const { event } = sandbox.emit("email.sent");
    // Nothing has moved the clock.
    expect(await sandbox.waitFor({ eventId: event.id })).toMatchObject({ attempt: 1, responseCode: 503 });

    const waited = await sandbox.advanceToNextAttempt();
    expect(waited).toBeGreaterThan(50_000);
    expect(sandbox.deliveries()).toHaveLength(2);
    expect(sandbox.plannedAttempts).toMatchObject([{ eventId: event.id, attempt: 3 }]);
    await sandbox.advance("3h");
    expect(sandbox.deliveries().map(({ status }) => status)).toEqual(["failed", "failed", "failed", "delivered"]);
    expect(sandbox.clock.now() - Date.now()).toBeGreaterThan(3 * HOUR);
    const signedAt = Number(/t=(\d+)/.exec(String(probe.got.at(-1)?.headers["x-svc-signature"]))?.[1]) * 1_000;
    expect(Math.abs(signedAt - Date.now())).toBeLessThan(10_000);
  });

  test.each([{ speed: 0 }, { speed: -1 }, { speed: Number.NaN }, "fast"])("the clock %j is refused", async (clock) => {
    expect(await refusalOf(() => createSandbox({ clock: clock as "real" }))).toEqual({ code: "invalid_option" });
  });
});

describe("waiting for an attempt", () => {
  test("a wait moves the clock until the attempt comes", async () => {
    const { sandbox, clock } = await openProbed((_, index) => (index < 4 ? 503 : 200));
    sandbox.emit("email.bounced");
    expect(await sandbox.waitFor({ type: "email.bounced", answered: "2xx" })).toMatchObject({ attempt: 5 });
    expect(clock.now() - START).toBeGreaterThan(2 * HOUR);
  });

  test("a wait finds an attempt that is already in the log", async () => {
    const { sandbox, clock } = openEndpoint({ status: 404 });
    const { event } = await fire(sandbox, "email.bounced");
    expect(await sandbox.waitFor({ eventId: event.id, answered: "4xx" })).toMatchObject({ responseCode: 404 });
    expect(clock.now()).toBe(START);
  });

  test("a wait for a missing contact event ends with an error, and a stored one is found", async () => {
    const sandbox = openSandbox();
    const wait = { name: "order.shipped", timeoutMs: 20 };
    await expect(sandbox.waitForContactEvent(wait)).rejects.toMatchObject({ code: "wait_timeout" });
    const event = { name: "order.shipped", email: "ada@customer.example.com" };
    const soon = sandbox.waitForContactEvent({ email: "ADA@customer.example.com" });
    await createClient(sandbox.clientOptions).contactEvents.send(event);
    expect(await sandbox.waitForContactEvent(wait)).toBe(await soon);
  });

  test("a wait ends with an error that says what came instead", async () => {
    const { sandbox } = openEndpoint({ status: 404 });
    sandbox.emit("email.bounced");
    await expect(sandbox.waitFor({ answered: "2xx" })).rejects.toThrow(/email\.bounced attempt 1: HTTP 404/);
    await expect(sandbox.waitFor({ answered: "none", timeoutMs: 5 })).rejects.toMatchObject({ code: "wait_timeout" });
  });
});
