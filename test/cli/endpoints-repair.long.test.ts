import { expect, test } from "vitest";
import { beginOutage, effectsOf, runRepair } from "./outage.js";

// The outage of endpoints-repair.process.test.ts, whole: 500 events, with both readings of what the log has of events
// that were fired while the endpoint was off, and the command killed again and again.

test.each([
  ["loses most of 500 events, all of which the log has", "partly", {}],
  [
    "loses 500 events, of which the log has those of the endpoint that is off too",
    "fully",
    { eventsOfDisabled: "logged" },
  ],
] as const)(
  "after two days of an outage that %s, none is missing and none took effect twice",
  async (_, kind, options) => {
    const outage = await beginOutage(kind, 500, options);
    for (const killAfter of [1, 60, 120]) await runRepair(outage, killAfter);
    expect(await runRepair(outage)).toMatchObject({ enabled: true, stopped: null, stillMissing: [] });
    expect(await effectsOf(outage)).toEqual(outage.ids.toSorted());
    expect(await runRepair(outage)).toMatchObject({ missing: 0, replayed: 0 });
    expect(await effectsOf(outage)).toHaveLength(500);
  },
  120_000,
);

test("of 500 events of a full outage, those that the log has arrive, and the report says when the endpoint was off", async () => {
  const outage = await beginOutage("fully", 500);
  const report = await runRepair(outage);
  expect(report).toMatchObject({ found: 100, missing: 100, arrived: 100, stillMissing: [], logReachesBack: false });
  expect(report).toMatchObject({ switchedOn: true, offPeriods: [{ from: expect.any(String), until: null }] });
  expect(await effectsOf({ ...outage, ids: outage.ids.slice(0, 100) })).toEqual(outage.ids.slice(0, 100).toSorted());
}, 120_000);
