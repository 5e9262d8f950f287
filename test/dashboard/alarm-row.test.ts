import { expect, test } from "vitest";
import { alarmRow } from "#pigeonhole/dashboard/alarm-row.js";
import { ALARMS, type Alarm } from "#pigeonhole/receiver/alarm-table.js";

test.each<Alarm>([
  { kind: "work_dead", dead: 3 },
  { kind: "work_parked", reason: "bad_data", types: ["email.sent"], parked: 1 },
  { kind: "crash_loop", parked: 1 },
  { kind: "backlog", forMs: 1, pending: 1 },
  { kind: "contact_events_dead", dead: 1 },
])("the advice on $kind names a view of the page, not functions and commands", (alarm) => {
  const { advice } = alarmRow({ alarm, since: 0, at: 0 });
  expect(advice).toMatch(/[Ss]ee (?:Errors|Work|Outbox)/);
  expect(advice).not.toMatch(/inbox|pigeonhole|list\(|stats\(/);
});

test("the detail has numbers, codes and short lists", () => {
  const alarm = { kind: "work_parked", reason: "bad_data", types: ["email.sent", "email.opened"], parked: 3 } as const;
  expect(alarmRow({ alarm, since: 0, at: 0 }).detail).toBe("reason bad_data, types email.sent email.opened, parked 3");
});

test("other alarms have the advice of the log", () => {
  const { advice } = alarmRow({ alarm: { kind: "clock_skew", skewSeconds: 1 }, since: 0, at: 0 });
  expect(advice).toBe(ALARMS.clock_skew.advice);
});
