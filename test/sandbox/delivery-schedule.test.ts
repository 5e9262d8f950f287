import { describe, expect, test } from "vitest";
import {
  HOUR,
  MINUTE,
  SECOND,
  START,
  openOnClock,
  openProbe,
  openSandbox,
  verdictOf,
  fire,
  openProbed,
} from "./support.js";

const WAITS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];

/** Milliseconds between the attempts in the log. */
function gapsOf(rows: { createdAt: string }[]): number[] {
  const times = rows.map(({ createdAt }) => Date.parse(createdAt));
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

describe("a delivery that never succeeds", () => {
  test("a delivery that never succeeds is tried 8 times, after the documented waits, each varied by up to 10 %", async () => {
    const { sandbox, probe } = await openProbed(() => 503);
    sandbox.emit("email.bounced");
    await sandbox.advance("31h");
    const rows = sandbox.deliveries();
    expect(rows.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(rows[0]?.createdAt).toBe(new Date(START).toISOString());
    const gaps = gapsOf(rows);
    for (const [index, waitMs] of WAITS.entries()) {
      expect(Math.abs((gaps[index] ?? 0) - waitMs) / waitMs).toBeLessThanOrEqual(0.1);
      expect(gaps[index]).not.toBe(waitMs);
    }
    const later = rows.slice(1).map(({ createdAt }) => createdAt);
    expect(rows.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([...later, null]);
    expect([sandbox.openDeliveries, sandbox.plannedAttempts[0]?.dueAtMs, probe.got.length]).toEqual([0, undefined, 8]);
  });

  test("a delivery that never succeeds has the same bytes every time, signed with the time of each attempt", async () => {
    const { sandbox, probe, secret } = await openProbed(() => 503);
    sandbox.emit("email.bounced");
    await sandbox.advance("31h");
    expect(new Set(probe.got.map(({ body }) => body)).size).toBe(1);
    for (const [index, row] of sandbox.deliveries().entries()) {
      expect(verdictOf(probe.got[index], secret, Date.parse(row.createdAt))).toMatchObject({ ok: true });
    }
  });
});

describe("after the first answer", () => {
  test.each([
    [200, "delivered", 1],
    [299, "delivered", 1],
    [301, "failed", 1],
    [404, "failed", 1],
    [408, "failed", 8],
    [503, "failed", 8],
    ["break", "failed", 8],
  ] as const)("the answer %s counts as %s, after %d attempts in all", async (answer, status, attempts) => {
    const { sandbox, probe } = await openProbed(() =>
      answer === 301 ? { status: 301, headers: { location: "/elsewhere" } } : answer,
    );
    sandbox.emit("email.bounced");
    await sandbox.advance("31h");
    const rows = sandbox.deliveries();
    expect(rows.map((row) => row.status)).toEqual(Array.from({ length: attempts }, () => status));
    expect(rows[0]?.responseCode).toBe(answer === "break" ? null : answer);
    expect(rows[0]?.error === null).toBe(status === "delivered");
    expect(new Set(probe.got.map(({ path }) => path))).toEqual(new Set(["/hook"]));
  });

  test("a closed port counts as no answer", async () => {
    const { sandbox } = openOnClock();
    sandbox.endpoints.create({ url: "http://127.0.0.1:9/" });
    await fire(sandbox, "email.bounced");
    expect(sandbox.deliveries()).toMatchObject([{ responseCode: null, error: expect.stringContaining("ECONN") }]);
    expect(sandbox.openDeliveries).toBe(1);
  });

  test("a later success ends the retries and resets the failures", async () => {
    const { sandbox, id } = await openProbed((_, index) => (index < 3 ? 500 : 200));
    sandbox.emit("email.bounced");
    await sandbox.advance("10m");
    expect(sandbox.endpoints.get(id).consecutiveFailures).toBe(3);
    await sandbox.advance("31h");
    expect(sandbox.deliveries().map(({ responseCode }) => responseCode)).toEqual([500, 500, 500, 200]);
    expect(sandbox.endpoints.get(id).consecutiveFailures).toBe(0);
    expect(sandbox.endpoints.get(id).lastDeliveryAt).toBe(sandbox.deliveries().at(-1)?.createdAt);
  });
});

describe("Retry-After", () => {
  const firstGap = async (value: string): Promise<number> => {
    const { sandbox } = await openProbed(() => ({ status: 503, headers: { "retry-after": value } }));
    sandbox.emit("email.bounced");
    await sandbox.advance("12h");
    return gapsOf(sandbox.deliveries())[0] ?? 0;
  };

  test.each([
    ["in seconds stretches the wait", "7200", 2 * HOUR],
    ["as a date stretches it", new Date(START + 3 * HOUR).toUTCString(), 3 * HOUR],
  ])("a Retry-After %s", async (_, value, gap) => {
    expect(await firstGap(value)).toBe(gap);
  });
});

describe("a receiver that does not answer", () => {
  test("a receiver that does not answer is abandoned after 5 s of the manual clock and tried again", async () => {
    const limits = { patienceMs: 20 };
    const { sandbox, clock } = await openProbed((_, index) => (index === 0 ? "nothing" : 200), { limits });
    sandbox.emit("email.bounced");
    await sandbox.advance(5 * SECOND - 1);
    expect(sandbox.deliveries()).toEqual([]);
    await sandbox.advance(1);
    const unanswered = { attempt: 1, responseCode: null, durationMs: 5_000, error: "no answer within 5 s" };
    expect(sandbox.deliveries()).toMatchObject([unanswered]);
    expect(clock.now()).toBe(START + 5 * SECOND);
    await sandbox.advance("2m");
    expect(sandbox.deliveries().map(({ responseCode }) => responseCode)).toEqual([null, 200]);
  });

  test("a receiver that does not answer does not delay the deliveries to others", async () => {
    const got: string[] = [];
    const receive = (request: Request): Promise<Response> => {
      got.push(new URL(request.url).pathname);
      return request.url.endsWith("/hanging") ? new Promise(() => {}) : Promise.resolve(new Response());
    };
    const { sandbox } = openOnClock({ limits: { patienceMs: 100 }, receive });
    sandbox.endpoints.create({ url: "http://127.0.0.1/hanging" });
    sandbox.endpoints.create({ url: "http://127.0.0.1/healthy" });
    await fire(sandbox, "email.bounced");
    expect(got).toEqual(["/hanging", "/healthy"]);
    expect(sandbox.deliveries()).toMatchObject([{ status: "delivered" }]);
  });
});

test("the layout of the signature follows the assumptions", async () => {
  const probe = await openProbe();
  const signature = { signatureHeader: "x-other-signature", timestampIn: "header", encodings: ["base64"] } as const;
  const sandbox = openSandbox({ assumptions: { signature } });
  sandbox.endpoints.create({ url: probe.url });
  await fire(sandbox, "email.bounced");
  expect(probe.got[0]?.headers).toMatchObject({
    "x-other-signature": expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
    "x-svc-timestamp": String(START / SECOND),
  });
});
