import type { DeliveryFaultRule } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { MINUTE, START, openOnClock, fire, openProbed } from "./support.js";
import { refusalOf } from "../support/error-of.js";
import type { DeliveryFault } from "#pigeonhole/sandbox/delivery/delivery-faults.js";

async function openWith(fault: DeliveryFault, rule: Partial<DeliveryFaultRule> = {}) {
  const { sandbox, clock, probe, id } = await openProbed();
  const takeBack = sandbox.faults.deliveries.add({ fault, times: 1, ...rule });
  return { sandbox, clock, probe, id, takeBack, ids: () => probe.got.map(({ event }) => event.id) };
}

describe("the kinds of fault", () => {
  test("the fault drop sends nothing and has no answer, and the retry is sent", async () => {
    const { sandbox, probe } = await openWith({ kind: "drop" });
    await fire(sandbox);
    expect([probe.got.length, sandbox.deliveries()]).toMatchObject([0, [{ responseCode: null, fault: "drop" }]]);
    await sandbox.advance("2m");
    expect([probe.got.length, sandbox.deliveries().at(-1)?.status]).toEqual([1, "delivered"]);
  });

  test("the fault delay sends the attempt later, signed at that time", async () => {
    const { sandbox, probe } = await openWith({ kind: "delay", delayMs: MINUTE });
    sandbox.emit("email.sent");
    await sandbox.advance(MINUTE - 1);
    expect(probe.got).toHaveLength(0);
    await sandbox.advance(1);
    expect(probe.got[0]?.headers["x-svc-signature"]).toContain(`t=${(START + MINUTE) / 1000},`);
    expect(sandbox.deliveries()).toMatchObject([{ status: "delivered", attempt: 1, fault: "delay" }]);
  });

  test("the fault duplicate sends the same event several times, and one attempt is logged", async () => {
    const { sandbox, ids } = await openWith({ kind: "duplicate", copies: 4 });
    const { event } = await fire(sandbox);
    expect(ids()).toEqual(Array.from({ length: 5 }, () => event.id));
    expect(sandbox.deliveries()).toMatchObject([{ status: "delivered", fault: "duplicate" }]);
  });

  test("the fault duplicate logs the answer to the first copy", async () => {
    let posts = 0;
    const { sandbox } = openOnClock({ receive: () => new Response(null, { status: (posts += 1) === 1 ? 200 : 404 }) });
    sandbox.endpoints.create({ url: "http://127.0.0.1/" });
    sandbox.faults.deliveries.add({ fault: { kind: "duplicate", copies: 3 } });
    await fire(sandbox);
    expect([posts, sandbox.deliveries()]).toMatchObject([4, [{ responseCode: 200 }]]);
  });

  test("the fault reorder sends the next event to the endpoint first", async () => {
    const { sandbox, ids } = await openWith({ kind: "reorder" });
    const [first, second] = [sandbox.emit("email.sent").event, sandbox.emit("email.delivered").event];
    await sandbox.settle();
    expect(ids()).toEqual([second.id, first.id]);
  });

  test("the fault reorder sends the event after a minute if there is no other", async () => {
    const { sandbox, ids } = await openWith({ kind: "reorder" });
    const { event } = sandbox.emit("email.sent");
    await sandbox.advance(MINUTE - 1);
    expect(ids()).toEqual([]);
    await sandbox.advance(1);
    expect(ids()).toEqual([event.id]);
  });

  test("the fault lose_answer lets the receiver store the event, and the service sends it again", async () => {
    const { sandbox, ids } = await openWith({ kind: "lose_answer" });
    const { event } = await fire(sandbox);
    expect(sandbox.deliveries()).toMatchObject([{ status: "failed", responseCode: null, fault: "lose_answer" }]);
    await sandbox.advance("2m");
    expect(ids()).toEqual([event.id, event.id]);
  });

  test("the fault status answers in place of the receiver, which gets nothing", async () => {
    const { sandbox, probe } = await openWith({ kind: "status", status: 503, retryAfter: "3600" });
    await fire(sandbox);
    expect([probe.got.length, sandbox.deliveries()[0]?.responseCode]).toEqual([0, 503]);
    expect(sandbox.plannedAttempts[0]?.dueAtMs).toBe(START + 60 * MINUTE);
  });
});

describe("the rules of delivery faults", () => {
  test("a rule selects a type or a group, an endpoint, an attempt, and how often it applies", async () => {
    const drop = { kind: "drop" } as const;
    const { sandbox, probe, id, takeBack } = await openWith(drop, { types: "email.*", times: 9 });
    takeBack();
    sandbox.faults.deliveries.add({ fault: drop, types: "domain.*" });
    sandbox.faults.deliveries.add({ fault: drop, endpointId: `whe_${"0".repeat(24)}` });
    sandbox.faults.deliveries.add({ fault: drop, endpointId: id, attempt: 2 });
    await fire(sandbox);
    expect(probe.got).toHaveLength(1);
    sandbox.faults.clear();
    sandbox.faults.deliveries.add({ fault: drop, types: "email.sent", times: 2 });
    for (let index = 0; index < 3; index += 1) sandbox.emit("email.sent");
    await fire(sandbox, "email.delivered");
    expect(probe.got).toHaveLength(3);
  });

  test("a rule with a probability applies to about that share, the same ones in every run", async () => {
    const run = async (seed: number): Promise<number[]> => {
      const { sandbox } = openOnClock({ seed, receive: () => new Response() });
      sandbox.endpoints.create({ url: "http://127.0.0.1/" });
      sandbox.faults.deliveries.add({ fault: { kind: "status", status: 404 }, probability: 0.3 });
      for (let index = 0; index < 90; index += 1) sandbox.emit("email.sent");
      await sandbox.settle();
      return sandbox.deliveries().map(({ responseCode }) => responseCode ?? 0);
    };
    const codes = await run(1);
    const hits = codes.filter((code) => code === 404).length;
    expect(hits).toBeGreaterThan(13);
    expect(hits).toBeLessThan(42);
    expect(await run(1)).toEqual(codes);
    expect(await run(2)).not.toEqual(codes);
  });

  test.each([
    [{ fault: { kind: "explode" } }],
    [{ fault: { kind: "drop" }, probability: 2 }],
    [{ fault: { kind: "drop" }, times: 0 }],
    [{ fault: { kind: "delay", delayMs: -1 } }],
    [{ fault: { kind: "status", status: 99 } }],
    [{ fault: { kind: "duplicate", copies: 0 } }],
    [{ fault: { kind: "status", status: 503, retryAfter: 5 } }],
    [{ fault: { kind: "status", status: 503, retryAfter: "5\r\nx: y" } }],
    [{ fault: { kind: "drop", delayMs: 5 } }],
    [{ fault: { kind: "drop" }, type: "email.sent" }],
    [{ fault: { kind: "drop" }, types: 5 }],
    [{ fault: { kind: "drop" }, probability: "0.5" }],
    [{ fault: { kind: "constructor" } }],
    [{}],
  ])("a rule with a mistake is refused: %j", async (rule) => {
    const { sandbox } = openOnClock();
    const { code } = await refusalOf(() => sandbox.faults.deliveries.add(rule as DeliveryFaultRule));
    expect(code).toBe("invalid_argument");
  });
});

test("the rules in force can be listed with what is left of them, and be removed one by one", async () => {
  const { sandbox, probe } = await openWith({ kind: "drop" }, { times: 2, attempt: 1 });
  const status: DeliveryFault = { kind: "status", status: 503 };
  sandbox.faults.deliveries.add({ fault: status, types: "form.*" });
  await fire(sandbox);
  const [drop, second] = sandbox.faults.deliveries.list();
  expect([drop, second]).toMatchObject([
    { rule: { fault: { kind: "drop" } }, left: 1 },
    { rule: { fault: status, types: "form.*" }, left: null },
  ]);
  expect(sandbox.faults.deliveries.remove(drop?.id ?? "")).toBe(true);
  expect(sandbox.faults.deliveries.remove(drop?.id ?? "")).toBe(false);
  expect(sandbox.faults.deliveries.list()).toEqual([second]);
  await fire(sandbox);
  expect(probe.got).toHaveLength(1);
});
