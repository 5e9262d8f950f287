import { expect, test } from "vitest";
import { alarmRow } from "#pigeonhole/dashboard/alarm-row.js";
import { ADVICE, type Alarm } from "#pigeonhole/receiver/alarms.js";

test.each<Alarm>([
  { kind: "work_dead", dead: 3 },
  { kind: "crash_loop", parked: 1 },
  { kind: "backlog", forMs: 1, pending: 1 },
  { kind: "contact_events_dead", dead: 1 },
])("the advice on $kind names a view of the page, not functions and commands", (alarm) => {
  const { advice } = alarmRow({ alarm, since: 0, at: 0 });
  expect(advice).toMatch(/[Ss]ee (?:Errors|Work|Outbox)/);
  expect(advice).not.toMatch(/inbox|pigeonhole|list\(|stats\(/);
});

test("other alarms have the advice of the log", () => {
  const { advice } = alarmRow({ alarm: { kind: "clock_skew", skewSeconds: 1 }, since: 0, at: 0 });
  expect(advice).toBe(ADVICE.clock_skew);
});
