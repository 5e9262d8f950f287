import { describe, expect, test } from "vitest";
import { type ApiFaultRule, ApiFaultList, type InjectedFault } from "#pigeonhole/sandbox/calls/api-faults.js";
import { createRandom } from "../../support/seeded-random.js";
import { EVENT, createTestApi, verdict } from "./support.js";

const ERROR: InjectedFault = { kind: "error", status: 503 };
const LOST: InjectedFault = { kind: "no_answer", executed: true };
const newFaults = (seed = 1) => new ApiFaultList({ random: createRandom(seed) });

describe("the rules of API faults", () => {
  test("a rule applies to a call, a resource or everything", () => {
    const faults = newFaults();
    faults.add({ fault: ERROR, calls: "contactEvents.send" });
    faults.add({ fault: LOST, calls: "webhooks.*" });
    const kinds = ["contactEvents.send", "contactEvents.sendBatch", "webhooks.get"].map(
      (call) => faults.next(call)?.kind,
    );
    expect(kinds).toEqual(["error", undefined, "no_answer"]);
  });

  test.each<[string, ApiFaultRule]>([
    ["a call that does not exist", { fault: ERROR, calls: "webhooks.gets" }],
    ["a resource that does not exist", { fault: ERROR, calls: "broadcasts.*" }],
    ["a status that is no error", { fault: { kind: "error", status: 200 } }],
    ["a delay below 0", { fault: { kind: "delay", delayMs: -1 } }],
    ["an unknown kind", { fault: { kind: "nonsense" } as never }],
    ["a field that there is not", { fault: ERROR, call: "webhooks.list" } as never],
    ["calls that are no text", { fault: ERROR, calls: 5 } as never],
    ["a word for executed", { fault: { kind: "error", status: 503, executed: "yes" } } as never],
    ["no word on whether the call took effect", { fault: { kind: "no_answer" } as never }],
  ])("a rule with %s is refused", (_, rule) => {
    expect(() => newFaults().add(rule)).toThrowError(/calls|probability|times|fault\.|no such/);
  });
});

describe("an error from a fault rule", () => {
  test.each<[string, InjectedFault, string, string | null]>([
    ["of a 503", { kind: "error", status: 503 }, "503 injected_503", null],
    ["of a 429", { kind: "error", status: 429, retryAfter: "7" }, "429 event_rate_limited", "7"],
    ["with a code", { kind: "error", status: 503, code: "unreachable" }, "503 unreachable", null],
  ])("an error from a fault rule has the form of the service's errors: %s", async (_, fault, expected, retryAfter) => {
    const faults = newFaults();
    faults.add({ fault });
    const { call, store } = createTestApi({ faults });
    const answer = await call("POST /events", { body: EVENT });
    expect([verdict(answer), answer.headers.get("retry-after")]).toEqual([expected, retryAfter]);
    expect(store.events).toEqual([]);
  });

  test("an error after the commit hides the error that the call was refused with", async () => {
    const faults = newFaults();
    faults.add({ fault: { ...ERROR, executed: true } });
    const { call, store } = createTestApi({ faults });
    expect(verdict(await call("POST /events", { body: { ...EVENT, name: "" } }))).toBe("503 injected_503");
    expect(verdict(await call("POST /events", { body: EVENT }))).toBe("503 injected_503");
    expect(store.events).toHaveLength(1);
  });

  test("an error for keyed calls does not apply to a call without a key, and the log of calls says so", async () => {
    const faults = newFaults();
    faults.add({ fault: LOST, times: 1 });
    const calls: unknown[] = [];
    const { call } = createTestApi({ faults, onCall: (entry) => calls.push(entry) });
    expect(verdict(await call("GET /webhooks", { key: null }))).toBe("401 unauthorized");
    await expect(call("GET /webhooks")).rejects.toThrowError("fetch failed");
    expect(calls).toMatchObject([
      { status: 401, fault: undefined },
      { status: null, fault: LOST },
    ]);
  });
});
