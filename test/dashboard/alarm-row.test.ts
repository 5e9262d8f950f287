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

test.each<[Alarm, string]>([
  [
    { kind: "work_parked", reason: "bad_data", types: ["email.sent", "email.opened"], parked: 3 },
    "A person has to look at 3 pieces of work: bad_data, the newest of email.sent, email.opened.",
  ],
  [{ kind: "other_bytes", eventId: "evt_aBc" }, "Event evt_aBc came again with other bytes."],
  [
    { kind: "handler_missing", handlers: ["crmSync"], pending: 1 },
    "Handlers are missing: crmSync. Waiting for them: 1 piece of work.",
  ],
  [{ kind: "clock_skew", skewSeconds: 601 }, "A clock is wrong by 601 s."],
  [
    { kind: "failures_in_a_row", inARow: 20, disablesAt: 100 },
    "20 answers in a row were no success. The service switches the endpoint off at 100.",
  ],
])("an alarm is a sentence with its numbers and codes: %o", (alarm, text) => {
  expect(alarmRow({ alarm, since: 0, at: 0 }).text).toBe(text);
});

test("other alarms have the advice of the log", () => {
  const { advice } = alarmRow({ alarm: { kind: "clock_skew", skewSeconds: 1 }, since: 0, at: 0 });
  expect(advice).toBe(ALARMS.clock_skew.advice);
});
