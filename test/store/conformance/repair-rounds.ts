import { isoTime } from "#pigeonhole/base/iso-time.js";
import { describe, expect, test } from "vitest";
import { operate } from "../../support/operate.js";
import type { Fixture } from "./fixture.js";
import { T } from "./new-event.js";

const HOUR = 3_600_000;
const ENDPOINT = { endpointId: "whe_1", forMs: HOUR };

export function describeRepairRounds(fixture: Fixture): void {
  const claim = (now: number, of = ENDPOINT) => operate(fixture.store, now).claimRepair(of);

  describe("claimRepair", () => {
    test("of several processes one has the round, and the next when it is due", async () => {
      for (const now of [T, T + HOUR]) {
        const claims = await Promise.all([claim(now), claim(now), claim(now)]);
        expect(claims.filter(({ isClaimed }) => isClaimed)).toHaveLength(1);
        expect(new Set(claims.map(({ dueInMs }) => dueInMs))).toEqual(new Set([HOUR]));
        expect(await claim(now + HOUR - 1)).toMatchObject({ isClaimed: false, dueInMs: 1 });
      }
    });

    test.each([
      ["an earlier time, since the clock was set back", T - 1, HOUR],
      ["a shorter time", T, HOUR - 1],
    ])("a round that is due later than a claim lasts is claimed: with %s", async (_, now, forMs) => {
      await claim(T);
      expect(await claim(now, { ...ENDPOINT, forMs })).toMatchObject({ isClaimed: true, dueInMs: forMs });
    });

    test("each endpoint has rounds of its own", async () => {
      await claim(T);
      expect(await claim(T, { ...ENDPOINT, endpointId: "whe_2" })).toMatchObject({ isClaimed: true });
    });
  });

  test("endRepair keeps what a round came to, when the next is due, and where it begins, until that moves", async () => {
    const round = { endpointId: "whe_1", missing: 3, replayed: 2, stillMissing: 1, refused: "failed" };
    const rounds = async () => (await operate(fixture.store, T).overview()).repairs;
    expect(await claim(T)).toMatchObject({ isClaimed: true, comparedUntil: undefined });
    expect(await rounds()).toEqual([]);
    const operator = operate(fixture.store, T + 5);
    await operator.endRepair({ ...round, dueInMs: 10, comparedUntil: T - 7 });
    expect(await rounds()).toEqual([{ ...round, at: isoTime(T + 5) }]);
    expect(await claim(T + 14)).toMatchObject({ isClaimed: false, dueInMs: 1 });
    await operator.endRepair({ ...round, refused: null, dueInMs: 10, comparedUntil: undefined });
    expect(await claim(T + 15)).toMatchObject({ isClaimed: true, comparedUntil: T - 7 });
    expect(await rounds()).toMatchObject([{ refused: null }]);
  });
}
