import { isoTime } from "../base/iso-time.js";
import { ADVICE, type Alarm } from "../receiver/alarms.js";
import type { RecentAlarm } from "../receiver/recent-alarms.js";
import type { AlarmRow } from "./api/now.js";

/** An alarm as the page shows it: with its numbers and codes, and without texts of any length. */
export function alarmRow({ alarm, since, at }: RecentAlarm<Alarm>): AlarmRow {
  const { kind } = alarm;
  return { kind, since: isoTime(since), at: isoTime(at), detail: detailOf(alarm), advice: ADVICE[kind] };
}

/** What is short enough for a line; messages are in the log. */
const MAX_VALUE_LENGTH = 60;

function detailOf(alarm: Alarm): string {
  return Object.entries(alarm)
    .flatMap(([name, value]: [string, unknown]) => {
      if (name === "kind") return [];
      if (typeof value === "number") return [`${name} ${value}`];
      return typeof value === "string" && value.length <= MAX_VALUE_LENGTH ? [`${name} ${value}`] : [];
    })
    .join(", ");
}
