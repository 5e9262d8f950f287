import { describe, expect, test } from "vitest";
import { acceptLeased } from "./lease-page.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { newEvent, settlements } from "./new-event.js";
import { operate } from "../../support/operate.js";

export function describePolicies(fixture: Fixture): void {
  const mostOf = async (id: string): Promise<(number | null)[]> =>
    (await operate(fixture.store).getEvent(id))?.handlers.map(({ maxAttempts }) => maxAttempts) ?? [];

  describe("keepPolicies", () => {
    test.each(["pending", "running", "done", "dead", "parked", "discarded"] as const)(
      "keepPolicies has the attempts of a policy shown with work that is %s, also where it is listed",
      async (state) => {
        const { store } = fixture;
        const lease = await acceptLeased(store, "evt_1");
        if (state !== "running") await store.settle(settlements[state === "discarded" ? "dead" : state](lease));
        if (state === "discarded") await operate(store).changeEvent("discard", "evt_1");
        expect(await mostOf("evt_1")).toEqual([null]);
        await store.keepPolicies([{ handler: "h", maxAttempts: 14, types: [] }]);
        expect(await mostOf("evt_1")).toEqual([14]);
        expect(await operate(store).listEvents({})).toMatchObject({ items: [{ handlers: [{ maxAttempts: 14 }] }] });
      },
    );

    test("keepPolicies replaces the policies that it is given, and leaves the others", async () => {
      const { store } = fixture;
      await store.accept(newEvent("evt_1", { work: ["a", "b", "c"].map((handler) => ({ handler })) }));
      await store.keepPolicies([
        { handler: "a", maxAttempts: 1, types: [] },
        { handler: "b", maxAttempts: 14, types: [] },
      ]);
      await store.keepPolicies([{ handler: "b", maxAttempts: 3, types: [] }]);
      await store.keepPolicies([]);
      expect(await mostOf("evt_1")).toEqual([1, 3, null]);
    });

    test("an event that was not understood has no policy", async () => {
      const { store } = fixture;
      await store.keepPolicies([{ handler: "h", maxAttempts: 14, types: [] }]);
      await store.accept(newEvent("raw:1", { work: [], parked: { reason: "not_json", detail: "" } }));
      expect(await mostOf("raw:1")).toEqual([null]);
    });

    test("keepPolicies keeps them for the next process", async ({ skip }) => {
      skip(!fixture.kind.outlives, ENDS_WITH_STORE);
      await fixture.store.accept(newEvent("evt_1"));
      await fixture.store.keepPolicies([{ handler: "h", maxAttempts: 14, types: [] }]);
      await fixture.reopen();
      expect(await mostOf("evt_1")).toEqual([14]);
    });
  });
}
