import { expect, test } from "vitest";
import { failOverUnderLoad } from "./fail-over.js";

const LONG = { events: 400, perSecond: 60 };

test("after a failover to a synchronous standby each event has one effect, one mark and one contact event", async () => {
  const cluster = await failOverUnderLoad({ isSynchronous: true, ...LONG });
  const result = await cluster.finish();
  console.info("fail-over:", JSON.stringify(result));
  expect(result.violations).toEqual([]);
});

// Shows that the test of the synchronous one can fail.
test("a standby that is not synchronous has lost what was answered in its absence", async () => {
  const cluster = await failOverUnderLoad({ isSynchronous: false, ...LONG });
  const lost = await cluster.findLost();
  console.info(`fail-over: ${lost.length} events lost without a synchronous standby`);
  expect(lost).not.toEqual([]);
}, 120_000);
