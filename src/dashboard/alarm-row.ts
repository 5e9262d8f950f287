import { isoTime } from "../base/iso-time.js";
import { ADVICE, type Alarm } from "../receiver/alarms.js";
import type { RecentAlarm } from "../receiver/recent-alarms.js";
import type { AlarmRow } from "./api/now.js";

/** What to do with the page itself, where the log names functions and commands. */
const ADVICE_ON_PAGE: Partial<Record<Alarm["kind"], string>> = {
  work_dead:
    "See Errors for what failed, and Work, state dead, for the events. Retry or discard them there; they are kept until then.",
  work_parked:
    "See Work, state parked, for the events and what does not fit. Deploy a schema or a handler that takes them, then retry them there; they are kept until then.",
  crash_loop:
    "See Work, state parked, for the events, find out why the process ends while the handler runs, then retry or discard them there.",
  backlog:
    "Handlers are too slow or too few, hang, or no process runs them: see Work, Handlers, for whose work waits. Raise concurrency, or lower timeoutMs. Nothing is lost meanwhile.",
  contact_events_dead: "See Outbox, state dead, for the reasons. Retry or discard them there.",
};

/** An alarm as the page shows it: with its numbers and codes, and without texts of any length. */
export function alarmRow({ alarm, since, at }: RecentAlarm<Alarm>): AlarmRow {
  const { kind } = alarm;
  return {
    kind,
    since: isoTime(since),
    at: isoTime(at),
    detail: detailOf(alarm),
    advice: ADVICE_ON_PAGE[kind] ?? ADVICE[kind],
  };
}

/** What is short enough for a line; messages are in the log. */
const MAX_VALUE_LENGTH = 60;

function detailOf(alarm: Alarm): string {
  return Object.entries(alarm)
    .flatMap(([name, value]: [string, unknown]) => {
      if (name === "kind") return [];
      if (typeof value === "number") return [`${name} ${value}`];
      const text = Array.isArray(value) ? value.filter((each) => typeof each === "string").join(" ") : value;
      return typeof text === "string" && text !== "" && text.length <= MAX_VALUE_LENGTH ? [`${name} ${text}`] : [];
    })
    .join(", ");
}
