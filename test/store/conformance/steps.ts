import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { acceptLeased, leasePage } from "./lease-page.js";
import { bare, DAY, newEvent, settlements, T, TARGETS } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { operate } from "../../support/operate.js";

export function describeSteps(fixture: Fixture): void {
  describe("steps", () => {
    test.each([["a"], [""], ["__proto__"], ["constructor"], ["with 'quotes' and \u{1f54a}"]])(
      "the store keeps a step's name %j and its text unchanged",
      async (name) => {
        const lease = await acceptLeased(fixture.store, "evt_1");
        expect(await fixture.store.saveStep(lease, name, '{"value":null}', T)).toBe("settled");
        expect(Object.entries(await fixture.store.loadSteps(lease))).toEqual([[name, '{"value":null}']]);
      },
    );

    test("an operator sees when each step was kept, oldest first, also once the work is done", async () => {
      const { store } = fixture;
      const lease = await acceptLeased(store, "evt_1");
      const stepsShown = async () => (await operate(store).getEvent("evt_1"))?.handlers.map(({ steps }) => steps);
      expect(await stepsShown()).toEqual([[]]);
      await store.saveStep(lease, "b", "1", T + 1);
      await store.saveStep(lease, "a", "2", T + 2);
      await store.saveStep(lease, "b", "3", T + 3);
      const steps = [
        { name: "b", at: isoTime(T + 1) },
        { name: "a", at: isoTime(T + 2) },
      ];
      expect(await stepsShown()).toEqual([steps]);
      await store.settle(settlements.pending(lease, T));
      expect(await stepsShown()).toEqual([steps]);
      const [work] = (await leasePage(store)).work;
      await store.settle({ ...settlements.done(bare(work ?? expect.unreachable())), dropSteps: true });
      expect(await stepsShown()).toEqual([steps]);
      expect(await store.loadSteps(lease)).toEqual({});
    });

    test("an operator sees the steps of each handler with it", async () => {
      const work = ["h", "i", "j"].map((handler) => ({ handler, leaseUntil: T + DAY }));
      const result = await fixture.store.accept(newEvent("evt_1", { work }));
      const leases = result.kind === "stored" ? result.leases : [];
      for (const lease of leases.slice(0, 2)) {
        await fixture.store.saveStep(bare(lease), `step of ${lease.handler}`, "1", T);
      }
      const handlers = (await operate(fixture.store).getEvent("evt_1"))?.handlers ?? [];
      expect(handlers.map(({ handler, steps }) => [handler, steps])).toEqual([
        ["h", [{ name: "step of h", at: isoTime(T) }]],
        ["i", [{ name: "step of i", at: isoTime(T) }]],
        ["j", []],
      ]);
    });

    test.each(TARGETS)("a settlement to %s keeps the values of steps, or drops them if asked", async (to) => {
      for (const dropSteps of [false, true]) {
        const lease = await acceptLeased(fixture.store, `evt_${dropSteps}`);
        await fixture.store.saveStep(lease, "a", "1", T);
        await fixture.store.settle({ ...settlements[to](lease), dropSteps });
        expect(await fixture.store.loadSteps(lease)).toEqual(dropSteps ? {} : { a: "1" });
      }
    });
  });
}
