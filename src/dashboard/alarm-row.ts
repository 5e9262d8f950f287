import { MINUTE } from "../base/duration.js";
import { isoTime } from "../base/iso-time.js";
import { ALARMS, type Alarm } from "../receiver/alarm-table.js";
import type { RecentAlarm } from "../receiver/alarms.js";
import type { AlarmRow } from "./state-now.js";

/** An alarm as the page shows it: with its numbers and codes, and without texts of any length. */
export function alarmRow({ alarm, since, at }: RecentAlarm): AlarmRow {
  const { kind } = alarm;
  return {
    kind,
    since: isoTime(since),
    at: isoTime(at),
    text: describeAlarm(alarm),
    advice: ALARMS[kind].onPage ?? ALARMS[kind].advice,
  };
}

/** What has happened, in one sentence. */
export function describeAlarm(alarm: Alarm): string {
  return (SENTENCES[alarm.kind] as (of: Alarm) => string)(alarm);
}

const count = (number: number, one: string): string => `${number} ${number === 1 ? one : `${one}s`}`;
const work = (pieces: number): string => `${count(pieces, "piece")} of work`;
const minutes = (ms: number): string => `${Math.max(1, Math.round(ms / MINUTE))} min`;

const SENTENCES: { [Kind in Alarm["kind"]]: (alarm: Extract<Alarm, { kind: Kind }>) => string } = {
  signature_mismatches: ({ inARow }) => `${inARow} signatures in a row match no secret.`,
  signature_unreadable: ({ reason, shape }) => `A signature header cannot be read: ${reason}, ${shape}.`,
  older_secret_matched: ({ secretIndex, source }) =>
    `Only secret ${secretIndex + 1} of ${source === "" ? "the list" : source} matches.`,
  secrets_unavailable: ({ reason }) => `The function for the secrets ${reason === "late" ? "is late" : "has failed"}.`,
  clock_skew: ({ skewSeconds }) => `A clock is wrong by ${skewSeconds} s.`,
  other_bytes: ({ eventId }) => `Event ${eventId} came again with other bytes.`,
  failures_in_a_row: ({ inARow, disablesAt }) =>
    `${inARow} answers in a row were no success. The service switches the endpoint off at ${disablesAt}.`,
  events_missed: ({ missing, stillMissing, refused }) =>
    `The last repair found ${count(missing, "event")} missing; still missing: ${stillMissing}${refused === null ? "" : ` (${refused})`}.`,
  final_answer: ({ status, outcome }) => `A delivery was answered ${status} ${outcome}, and is not sent again.`,
  body_consumed: () => "Another parser reads the body before the receiver.",
  silence: ({ sinceMs }) => `Nothing was accepted for ${minutes(sinceMs)}.`,
  work_dead: ({ dead }) => `Handlers have given up ${work(dead)}.`,
  work_parked: ({ parked, reason, types }) =>
    `A person has to look at ${work(parked)}: ${reason}${types.length === 0 ? "" : `, the newest of ${types.join(", ")}`}.`,
  crash_loop: ({ parked }) => `Processes have died several times in ${work(parked)}, and parked it.`,
  backlog: ({ forMs, pending }) => `Work is due for ${minutes(forMs)}, and not begun; not done: ${work(pending)}.`,
  handler_missing: ({ handlers, pending }) =>
    `Handlers are missing: ${handlers.join(", ")}. Waiting for them: ${work(pending)}.`,
  contact_events_dead: ({ dead }) => `Given up: ${count(dead, "contact event")}.`,
  contact_events_stuck: ({ forMs, pending }) =>
    `Waiting to be sent: ${count(pending, "contact event")}, the oldest for ${minutes(forMs)}.`,
  deliveries_overdue: ({ waiting }) => `The store takes too long. Waiting for it: ${waiting}.`,
  api_refused: ({ error }) => `The API refuses the key, the scope or the address: ${error}.`,
  store_unavailable: ({ code }) => `The store cannot be reached: ${code}.`,
  wal_blocked: ({ forMs }) => `A reader has kept the WAL from being emptied for ${minutes(forMs)}.`,
  checkpoint_failed: ({ code }) => `The WAL cannot be moved into the database: ${code}.`,
};
