import { expect, onTestFinished, test } from "vitest";
import { newEvent } from "../conformance/new-event.js";
import { loadPostgresCopy } from "./load-postgres-copy.js";
import { openWithStandby, storeWithoutStandby } from "./standby.js";

const WRITTEN = "WITH written AS MATERIALIZED (SELECT pg_logical_emit_message(true, 'pigeonhole', ''))";

// Shows that the test of the store itself can fail.
test("a store that writes nothing for a duplicate answers it before the standby has the event", async () => {
  const change = { file: "store/postgres/operations/store-events.js", from: WRITTEN, to: "WITH written AS (SELECT 1)" };
  const copy = await loadPostgresCopy({ name: "writes nothing for a duplicate", changes: [change] });
  const { store, client, setStandby } = await openWithStandby(copy);
  onTestFinished(() => setStandby(""));
  await setStandby("away");
  await storeWithoutStandby(store, client, "evt_1");
  expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "duplicate" });
});
