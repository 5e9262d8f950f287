import { HOUR, MINUTE } from "#pigeonhole/base/duration.js";
import type { AttemptRow } from "pigeonhole/sandbox";
import {
  BATCHER,
  COURIER,
  HISTORIAN,
  HISTORIAN_TYPE,
  LEDGER,
  MIRROR,
  OLD_EVENTS,
  hasHandler,
  isForCourier,
} from "./handlers.js";
import { courseOf } from "./plan.js";
import type { History } from "./world.js";
import { countEach } from "../support/count-each.js";

/**
 * The service's waits between attempts, written down once more: this file judges, so it shares nothing with what it
 * judges.
 */
const WAITS_MS = [1, 5, 30, 120, 300, 600, 600].map((minutes) => minutes * MINUTE);
const MAX_ATTEMPTS = 8;
const MAX_RETRY_AFTER_MS = 6 * HOUR;
/** Faults of the simulated network put a due attempt off by this much at most. */
const MAX_HELD_BACK_MS = 10 * MINUTE;

/** Everything that is wrong in a history; empty when the promises were kept. */
export function findViolations(history: History): string[] {
  // A world that was given up says no more.
  if (history.wrong.length > 0) return history.wrong;
  return [
    ...(history.unfinished === undefined ? [] : [`did not come to rest: ${history.unfinished}`]),
    ...checkEffects(history),
    ...checkNewest(history),
    ...checkOthers(history),
    ...checkContactEvents(history),
    ...checkAnswers(history),
    ...checkLosses(history),
  ];
}

/** Answered 2xx ⇔ one effect. */
function checkEffects({ fired, effects, received, log }: History): string[] {
  const counts = countEach(effects[LEDGER] ?? []);
  const stored = new Set(received);
  const rows = log.flatMap((entry) => (entry.kind === "attempt" ? [entry.row] : []));
  const taken = new Set(rows.filter(({ status }) => status === "delivered").map(({ eventId }) => eventId));
  const posted = new Set(rows.filter(wasSent).map(({ eventId }) => eventId));
  const known = new Set(fired.map(({ id }) => id));
  return [
    ...[...taken].filter((id) => !counts.has(id)).map((id) => `answered 2xx and without effect: ${id}`),
    ...[...counts].filter(([, count]) => count > 1).map(([id, count]) => `${count} effects: ${id}`),
    ...[...counts.keys()].filter((id) => !stored.has(id)).map((id) => `an effect of what is not in the inbox: ${id}`),
    ...[...stored].filter((id) => !counts.has(id)).map((id) => `in the inbox and without effect: ${id}`),
    ...[...stored].filter((id) => !known.has(id) || !posted.has(id)).map((id) => `was never delivered: ${id}`),
  ];
}

/**
 * Each event of a batch is written once, whatever became of the others; so are the events of before by the handler of
 * history, and those that have come since.
 */
function checkOthers({ seed, fired, received, effects }: History): string[] {
  const ofHistory = new Set(fired.filter(({ type }) => type === HISTORIAN_TYPE).map(({ id }) => id));
  const expected = {
    [BATCHER]: received,
    [HISTORIAN]: [...OLD_EVENTS, ...received.filter((id) => ofHistory.has(id))],
  };
  return ([BATCHER, HISTORIAN] as const).flatMap((handler) => {
    if (!hasHandler(seed, handler)) return [];
    const counts = countEach(effects[handler] ?? []);
    return [
      ...expected[handler].filter((id) => !counts.has(id)).map((id) => `not written by the ${handler}: ${id}`),
      ...[...counts]
        .filter(([, count]) => count > 1)
        .map(([id, count]) => `written ${count} times by ${handler}: ${id}`),
    ];
  });
}

/** Of the newest of a key, one effect, and after it none of an older one. */
function checkNewest({ seed, fired, received, effects }: History): string[] {
  const mirrored = effects[MIRROR] ?? [];
  const of = new Map(fired.map((event) => [event.id, event]));
  const ofKey = hasHandler(seed, MIRROR) ? received.filter((id) => isForCourier(of.get(id)?.type ?? "")) : [];
  // Those of one time stay in the order of acceptance.
  const oldestFirst = ofKey.toSorted((a, b) => {
    const [one = "", other = ""] = [of.get(a)?.createdAt, of.get(b)?.createdAt];
    return one === other ? 0 : one < other ? -1 : 1;
  });
  const ages = mirrored.map((id) => oldestFirst.indexOf(id));
  return [
    ...mirrored
      .filter((_, index) => (ages[index] ?? 0) <= (ages[index - 1] ?? -1))
      .map((id) => `written after a newer one: ${id}`),
    ...(mirrored.at(-1) === oldestFirst.at(-1) ? [] : [`the newest was not written: ${oldestFirst.at(-1)}`]),
  ];
}

/** Every recorded contact event is stored exactly once: what the done handlers record, no more and no less. */
function checkContactEvents({ seed, fired, received, contactEvents }: History): string[] {
  const types = new Map(fired.map(({ id, type }) => [id, type]));
  const recorded = received.flatMap((id) => [
    ...courseOf(seed, id, LEDGER).labels.map((label) => `${LEDGER}.${label} ${id}`),
    ...(isForCourier(types.get(id) ?? "") ? [`${COURIER}.note ${id}`] : []),
  ]);
  const stored = contactEvents.map(({ name, properties }) => `${name} ${String(properties["eventId"])}`);
  const counts = countEach(stored);
  const expected = new Set(recorded);
  return [
    ...recorded.filter((key) => !counts.has(key)).map((key) => `recorded and not stored: ${key}`),
    ...[...counts].filter(([, count]) => count > 1).map(([key, count]) => `stored ${count} times: ${key}`),
    ...[...counts.keys()].filter((key) => !expected.has(key)).map((key) => `stored and not recorded: ${key}`),
  ];
}

/** The receiver itself never gives an answer that loses an event. */
function checkAnswers({ log }: History): string[] {
  return log.flatMap((entry) => {
    if (entry.kind !== "attempt" || entry.row.fault === "status") return [];
    const { responseCode, eventId } = entry.row;
    const isGood = responseCode === null || responseCode === 200 || isRepeated(responseCode);
    return isGood ? [] : [`the receiver answered ${responseCode}: ${eventId}`];
  });
}

/** A delivery is lost only where the service's rules say so, and is tried when they say so. */
function checkLosses(history: History): string[] {
  const attempts = new Map<string, AttemptRow[]>(history.fired.map(({ id }) => [id, []]));
  for (const entry of history.log) {
    if (entry.kind === "attempt" && entry.row.kind === "event") attempts.get(entry.row.eventId)?.push(entry.row);
  }
  const offTimes = findOffTimes(history);
  return history.fired.flatMap(({ id, delivered, atMs }) => {
    const rows = attempts.get(id) ?? [];
    const wasOff = (fromMs: number, toMs: number): boolean =>
      offTimes.some(({ sinceMs, untilMs }) => sinceMs <= toMs && untilMs >= fromMs);
    const ownFaults = checkSchedule(rows).map((fault) => `${fault}: ${id}`);
    if (!delivered)
      return wasOff(atMs, atMs) ? ownFaults : [...ownFaults, `not delivered while the endpoint was on: ${id}`];
    const last = rows.at(-1);
    if (last?.status === "delivered" || rows.length === MAX_ATTEMPTS) return ownFaults;
    if (last !== undefined && last.responseCode !== null && !isRepeated(last.responseCode)) return ownFaults;
    // Whatever else is lost, it is because the endpoint was off when an attempt was due, or its retries were dropped.
    const fromMs = last === undefined ? atMs : Date.parse(last.createdAt);
    const waitMs = WAITS_MS[rows.length - 1] ?? 0;
    const toMs = fromMs + Math.max(waitMs * 1.1, MAX_RETRY_AFTER_MS) + MAX_HELD_BACK_MS;
    return wasOff(fromMs, toMs)
      ? ownFaults
      : [...ownFaults, `lost without a reason after ${rows.length} attempts: ${id}`];
  });
}

/** Attempts are numbered through, come as the schedule says, and end with the first that was not to be repeated. */
function checkSchedule(rows: readonly AttemptRow[]): string[] {
  return rows.flatMap((row, index) => {
    const before = rows[index - 1];
    if (row.attempt !== index + 1 || index >= MAX_ATTEMPTS)
      return [`attempt ${row.attempt} came as number ${index + 1}`];
    if (before === undefined) return [];
    if (before.responseCode !== null && !isRepeated(before.responseCode))
      return [`tried again after ${before.responseCode}`];
    const waitedMs = Date.parse(row.createdAt) - Date.parse(before.createdAt);
    const waitMs = WAITS_MS[index - 1] ?? 0;
    const isEarly = waitedMs < waitMs * 0.9 - 1;
    const isLate = waitedMs > Math.max(waitMs * 1.1, MAX_RETRY_AFTER_MS) + 2 * MAX_HELD_BACK_MS;
    return isEarly || isLate ? [`attempt ${row.attempt} came after ${waitedMs} ms`] : [];
  });
}

function findOffTimes({ log }: History): { sinceMs: number; untilMs: number }[] {
  const times: { sinceMs: number; untilMs: number }[] = [];
  for (const entry of log) {
    if (entry.kind !== "endpoint") continue;
    if (entry.change === "disabled") times.push({ sinceMs: entry.atMs, untilMs: Infinity });
    const last = times.at(-1);
    if (entry.change === "enabled" && last !== undefined) last.untilMs = entry.atMs;
  }
  return times;
}

/** True when something of the attempt reached the receiver's machine. */
function wasSent({ fault }: AttemptRow): boolean {
  return fault !== "status" && fault !== "drop";
}

function isRepeated(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
