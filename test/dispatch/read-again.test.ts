import { readAllAgain } from "#pigeonhole/dispatch/read-again.js";
import { expect, test } from "vitest";
import { eventDetail } from "../support/event-detail.js";

test("an event that is gone meanwhile is passed over, whatever another source has under its id", async () => {
  const ofOther = { ...eventDetail(0, { state: "parked", handlers: [] }), id: "acme/evt_1" };
  const deps = {
    store: { listStuck: () => Promise.resolve([{ id: "evt_1", seq: 1 }]) },
    operator: { getEvent: () => Promise.resolve(ofOther) },
  };
  expect(await readAllAgain(deps as never, "parked")).toEqual({ events: 0, pending: 0, stillParked: 0 });
});
