import { isoTime } from "../base/iso-time.js";
import { ALARMS } from "../receiver/alarm-table.js";
import type { RecentAlarm } from "../receiver/alarms.js";
import type { AlarmRow } from "../web/api/now.js";

/** An alarm as the page shows it: with its numbers and codes, and without texts of any length. */
export function alarmRow({ alarm, since, at }: RecentAlarm): AlarmRow {
  const { kind } = alarm;
  return {
    kind,
    since: isoTime(since),
    at: isoTime(at),
    detail: detailOf(alarm),
    advice: ALARMS[kind].onPage ?? ALARMS[kind].advice,
  };
}

/** What is short enough for a line; messages are in the log. */
const MAX_VALUE_LENGTH = 60;

/** Fields whose number stands before their name. */
const COUNTS: ReadonlySet<string> = new Set(["inARow", "dead", "parked", "pending", "waiting"]);

function detailOf(alarm: RecentAlarm["alarm"]): string {
  return Object.entries(alarm)
    .flatMap(([name, value]: [string, unknown]) => {
      if (name === "kind") return [];
      const words = name.replace(/Seconds$/, "").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      if (name.endsWith("Seconds")) return [`${words} ${String(value)} s`];
      if (typeof value === "number") return [COUNTS.has(name) ? `${value} ${words}` : `${words} ${value}`];
      const text = Array.isArray(value) ? value.filter((each) => typeof each === "string").join(" ") : value;
      return typeof text === "string" && text !== "" && text.length <= MAX_VALUE_LENGTH ? [`${words} ${text}`] : [];
    })
    .join(", ");
}
