import { describe, expect, test } from "vitest";
import type { RunSlots } from "#pigeonhole/store/run-slots.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { DAY, T } from "./new-event.js";

/** Times at which runs of a handler with a rate may begin. */
export function describeRunSlots(fixture: Fixture): void {
  const reserve = (now: number, { handler = "h", gapMs = 100, count = 1 } = {}): Promise<RunSlots> =>
    fixture.store.reserveRuns({ handler, now, gapMs, count });

  /** A store on a server reads the time by two clocks of the machine. */
  const near = (first: number): number => expect.closeTo(first, -1) as number;

  describe("reserveRuns", () => {
    test("reserveRuns gives each time once, a gap after the one before, and none that is over", async () => {
      expect(await reserve(T)).toEqual({ first: near(T), count: 1 });
      expect(await reserve(T)).toEqual({ first: near(T + 100), count: 1 });
      expect(await reserve(T + 10, { count: 3 })).toEqual({ first: near(T + 200), count: 3 });
      expect(await reserve(T + 20)).toEqual({ first: near(T + 500), count: 1 });
      expect(await reserve(T + 700)).toEqual({ first: near(T + 700), count: 1 });
    });

    test("reserveRuns does not round short gaps", async () => {
      for (let index = 0; index < 200; index += 1) await reserve(T, { gapMs: 1.05 });
      expect((await reserve(T)).first).toEqual(near(T + 210));
    });

    test("reserveRuns gives none that is more than a second away, and says when it is", async () => {
      await reserve(T, { gapMs: DAY });
      const held = { first: near(T + DAY), count: 0 };
      expect(await reserve(T, { gapMs: DAY })).toEqual(held);
      expect(await reserve(T + DAY - 1_010, { gapMs: DAY })).toEqual(held);
      expect(await reserve(T + DAY - 990, { gapMs: DAY })).toEqual({ first: near(T + DAY), count: 1 });
    });

    test("reserveRuns gives two that ask at once different times", async () => {
      const given = await Promise.all(Array.from({ length: 10 }, () => reserve(T)));
      expect(given.map(({ first }) => first).toSorted((a, b) => a - b)).toEqual(
        given.map((_, index) => near(T + index * 100)),
      );
    });

    test("reserveRuns counts for each handler by itself", async () => {
      await reserve(T, { handler: "a" });
      expect(await reserve(T, { handler: "b" })).toEqual({ first: near(T), count: 1 });
    });

    test("reserveRuns goes on soon after the clock was set back, behind what may be reserved", async () => {
      await reserve(T + DAY, { count: 2 });
      const { first } = await reserve(T);
      expect(first).toBeGreaterThan(T + 1_200);
      expect(first).toBeLessThan(T + 4_000);
      expect(await reserve(first)).toEqual({ first: near(first + 100), count: 1 });
    });

    test("reserveRuns keeps the times for the next process", async ({ skip }) => {
      skip(!fixture.kind.outlives, ENDS_WITH_STORE);
      await reserve(T);
      await fixture.reopen();
      // The clocks are compared again, on a busy machine by an answer that took some milliseconds.
      expect(await reserve(T)).toEqual({ first: expect.closeTo(T + 100, -2) as number, count: 1 });
    });
  });
}
