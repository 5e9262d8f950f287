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
  expect(alarmRow({ alarm, since: 0, at: 0 }).detail).toBe("reason bad_data, types email.sent email.opened, 3 parked");
});

test.each<[Alarm, string]>([
  [{ kind: "other_bytes", eventId: "evt_aBc" }, "event id evt_aBc"],
  [{ kind: "handler_missing", handlers: ["crmSync"], pending: 1 }, "handlers crmSync, 1 pending"],
  [{ kind: "clock_skew", skewSeconds: 601 }, "skew 601 s"],
  [{ kind: "failures_in_a_row", inARow: 20, disablesAt: 100 }, "20 in a row, disables at 100"],
])("the names of fields are words, and their values stay as they are: %o", (alarm, detail) => {
  expect(alarmRow({ alarm, since: 0, at: 0 }).detail).toBe(detail);
});

test("other alarms have the advice of the log", () => {
  const { advice } = alarmRow({ alarm: { kind: "clock_skew", skewSeconds: 1 }, since: 0, at: 0 });
  expect(advice).toBe(ALARMS.clock_skew.advice);
});
