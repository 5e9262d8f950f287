import { expect, onTestFinished, test } from "vitest";
import type * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import { loadCopyOf } from "../../simulation/load-copy.js";
import { newEvent } from "../conformance/new-event.js";
import { openWithStandby, storeWithoutStandby } from "./standby.js";

const WRITTEN = "WITH written AS MATERIALIZED (SELECT pg_logical_emit_message(true, 'pigeonhole', ''))";

// Shows that the test of the store itself can fail.
test("a store that writes nothing for a duplicate answers it before the standby has the event", async () => {
  const change = { file: "store/postgres/operations/store-events.js", from: WRITTEN, to: "WITH written AS (SELECT 1)" };
  const changed = { name: "writes nothing for a duplicate", changes: [change] };
  const copy = await loadCopyOf<typeof postgres>(changed, "store/postgres/postgres-store.js");
  const { store, client, setStandby } = await openWithStandby(copy);
  onTestFinished(() => setStandby(""));
  await setStandby("away");
  await storeWithoutStandby(store, client, "evt_1");
  expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "duplicate" });
});
