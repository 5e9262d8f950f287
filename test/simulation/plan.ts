import { HOUR, MINUTE, SECOND } from "#pigeonhole/base/duration.js";
import { type Random, seededRandom } from "#pigeonhole/base/random.js";
import { EVENT_TYPES, type EventType } from "pigeonhole";
import type { ApiFaultRule, DeliveryFaultRule } from "pigeonhole/sandbox";
import { pick } from "../support/seeded-random.js";

/** Where a process can die. `call` and `answer` are those of the store. */
export type Place =
  | "delivery"
  | "answered"
  | "call"
  | "answer"
  | "handler"
  | "write"
  | "written"
  | "api_call"
  | "api_answer"
  | "turn";

/** The process dies `places` places behind the next one that is called `after`. */
export interface CrashPlan {
  after: "now" | Place;
  /** So many places later; -1 is that place itself. */
  places: number;
  /** How long until it is started again. */
  downMs: number;
  /** How often in all; the next life expects the crash again. */
  times: number;
  /** The machine loses its power: both processes die, and with them what was not synced. */
  power: boolean;
  /** Which of two processes. */
  slot: number;
}

/** What the disk says to every call of the store. `store_failed` stays until the process is started again. */
export type StoreFault = "store_busy" | "store_full" | "store_failed";

/** What happens at one moment of a seed's world. */
export type Happening =
  | { kind: "event"; type: EventType }
  | { kind: "crash"; crash: CrashPlan }
  /** Several at once, more than a page of the store. */
  | { kind: "flood"; type: EventType; events: number }
  /** Stopped in an orderly way, handlers given so much time, and started again. */
  | { kind: "restart"; slot: number; timeoutMs: number }
  /** The disk refuses. */
  | { kind: "store_fault"; fault: StoreFault; forMs: number }
  /** What a delivery writes takes so long. */
  | { kind: "slow_disk"; callMs: number; forMs: number }
  /** A process stands still, with or without losing its lock on the file meanwhile. */
  | { kind: "freeze"; slot: number; losesLock: boolean; forMs: number }
  /** A proxy sends each delivery twice and passes on the first answer. */
  | { kind: "copies"; forMs: number }
  /** Nothing reaches the receiver's machine; it runs on. */
  | { kind: "cut_off"; forMs: number }
  /** Something in front of the receiver answers for it, or the network misbehaves. */
  | { kind: "delivery_fault"; rule: DeliveryFaultRule; forMs: number }
  | { kind: "api_fault"; rule: ApiFaultRule; forMs: number }
  /** The wall clock of the receiver's machine is off. */
  | { kind: "clock_off"; byMs: number; forMs: number }
  /** The receiver's secret source has the new secret so much later. */
  | { kind: "rotation"; handedOverAfterMs: number }
  /** The owner sees to an endpoint that the service has switched off. Planned while the seed runs. */
  | { kind: "owner_looks" }
  /** A fault or an outage ends. Planned while the seed runs. */
  | { kind: "over"; end: () => void };

export interface SeedPlan {
  seed: number;
  /** How many processes are started on the file; one of them runs handlers. */
  processes: 1 | 2;
  /**
   * Turns of the event loop that a call of the store waits for the batch before it, and for its answer, at the most.
   */
  storeTurns: number;
  happenings: readonly { atMs: number; happening: Happening }[];
  /** How long the owner takes to notice that the endpoint is off. */
  ownerTakesMs: number;
  /** Whether the owner then has the service send again what failed. */
  ownerReplays: boolean;
  retriesOfDisabled: "dropped" | "kept";
}

/** What a handler does with one event. */
export interface Course {
  /** In how many runs it fails. */
  failures: number;
  how: "at_once" | "inside_commit" | "beside_commit" | "too_slow";
  /** How long a run takes before it commits. */
  takesMs: number;
  /** A run that is to fail asks to hold its handler for so long instead; 0 for one that fails. */
  holdMs: number;
  /** Labels of the contact events that it records. */
  labels: readonly string[];
}

/** Worlds with more events at once than a page of the store, each of which takes as long as ten others. */
const FLOODS = 0.004;

/**
 * Worlds with a disk that is slower than the service waits. Each late answer takes five seconds of real time, after
 * which the sandbox knows that it is not about to come.
 */
const SLOW_DISKS = 0.0045;

/** When a delivery that is not stored is answered all the same. */
const ANSWER_MS = 3.5 * SECOND;

/** Longer than the handlers' time-out in the simulation. */
export const TOO_SLOW_MS = 11 * MINUTE;

/** The course of a handler for an event, the same in every life of the process. */
export function courseOf(seed: number, eventId: string, handler: string): Course {
  const random = seededRandom(`${seed} ${eventId} ${handler}`);
  // Drawn apart, since all else is as without it.
  const wait = seededRandom(`wait ${seed} ${eventId} ${handler}`);
  return {
    failures: random() < 0.7 ? 0 : between(random, 1, 3),
    how: pick(random, ["at_once", "inside_commit", "beside_commit", "too_slow"]),
    takesMs: takesMs(random),
    holdMs: wait() < 0.2 ? between(wait, SECOND, 5 * MINUTE) : 0,
    labels: ["a", "b", "c"].slice(0, between(random, 0, 3)),
  };
}

/** Now and then longer than a lease, which has to be renewed then. */
function takesMs(random: Random): number {
  const chance = random();
  if (chance < 0.5) return 0;
  return chance < 0.98 ? between(random, 1, 20 * SECOND) : between(random, 90 * SECOND, 4 * MINUTE);
}

/** How much happens in a world: as much trouble for an event in a small one as in a large one. */
interface Size {
  spansMs: readonly number[];
  /** Moments at which events are fired, from and to. */
  events: readonly [number, number];
  /** The most of each. */
  crashes: number;
  restarts: number;
  deliveryFaults: number;
  apiFaults: number;
}

/**
 * Most mistakes show where one or two events meet one or two troubles, and ten such worlds take as long as one large
 * one.
 */
const SMALL: Size = {
  spansMs: [10 * MINUTE, 2 * HOUR],
  events: [1, 3],
  crashes: 2,
  restarts: 1,
  deliveryFaults: 1,
  apiFaults: 1,
};
const LARGE: Size = {
  spansMs: [10 * MINUTE, 2 * HOUR, 12 * HOUR, 40 * HOUR],
  events: [3, 14],
  crashes: 5,
  restarts: 2,
  deliveryFaults: 4,
  apiFaults: 3,
};

/** Everything that will happen in a seed's world, but for what follows from it. */
export function planSeed(seed: number): SeedPlan {
  const random = seededRandom(`plan ${seed}`);
  const size = random() < 0.88 ? SMALL : LARGE;
  const spanMs = pick(random, size.spansMs);
  const eventTimes = planEventTimes(random, spanMs, size);
  /**
   * Most things are worth most while deliveries are on their way: at an event's time or at that of one of its retries.
   */
  const someTime = (near?: "at an event"): number => {
    if (near !== undefined) return pick(random, eventTimes) + random() * 6 * SECOND;
    if (random() < 0.2) return random() * spanMs;
    return pick(random, eventTimes) + pick(random, [-1, 0, 0, MINUTE * 0.9, 5 * MINUTE, HOUR]) + random() * 10 * SECOND;
  };
  return {
    seed,
    processes: random() < 0.4 ? 2 : 1,
    storeTurns: pick(random, [0, 2, 12]),
    happenings: [
      ...eventTimes.map((atMs) => ({ atMs, happening: { kind: "event" as const, type: pick(random, EVENT_TYPES) } })),
      ...planTroubles(random, size, someTime),
      ...planSlowDisk(seed, eventTimes),
    ].map(({ atMs, happening }) => ({ atMs: Math.max(0, Math.round(atMs)), happening })),
    ownerTakesMs: between(random, MINUTE, 12 * HOUR),
    ownerReplays: random() < 0.5,
    retriesOfDisabled: pick(random, ["dropped", "kept"]),
  };
}

type Planned = SeedPlan["happenings"][number];

function planTroubles(random: Random, size: Size, someTime: (near?: "at an event") => number): Planned[] {
  const upTo = (most: number, plan: (random: Random) => Happening): Planned[] =>
    several(random, most, () => ({ atMs: someTime(), happening: plan(random) }));
  const now = (chance: number, plan: (random: Random) => Happening): Planned[] =>
    random() < chance ? [{ atMs: someTime(), happening: plan(random) }] : [];
  // Near an event, whose handlers run then.
  const freezes = several(random, 1, () => ({ atMs: someTime("at an event"), happening: planFreeze(random) }));
  return [
    ...upTo(size.crashes, planCrash),
    ...upTo(size.restarts, planRestart),
    ...upTo(1, planStoreFault),
    ...(random() < 0.6 ? planCopies(random, someTime()) : []),
    ...freezes,
    ...now(FLOODS, planFlood),
    ...upTo(1, planCutOff),
    ...upTo(size.deliveryFaults, planDeliveryFault),
    ...upTo(size.apiFaults, planApiFault),
    ...upTo(1, planClockOff),
    ...upTo(1, planRotation),
  ];
}

function planEventTimes(random: Random, spanMs: number, size: Size): number[] {
  const times: number[] = [];
  const events = between(random, ...size.events);
  while (times.length < events) {
    const atMs = random() * spanMs;
    const burst = random() < 0.4 ? between(random, 2, 6) : 1;
    for (let index = 0; index < burst; index += 1) times.push(atMs + index * pick(random, [0, 0, 30, 900]));
  }
  return times;
}

function planCrash(random: Random): Happening {
  const after = pick(random, [
    "now",
    "delivery",
    "delivery",
    "handler",
    "handler",
    "write",
    "api_call",
    "call",
    "answered",
  ] as const);
  const downMs = random() < 0.9 ? between(random, SECOND, 20 * MINUTE) : between(random, HOUR, 30 * HOUR);
  const places = between(random, 0, random() < 0.7 ? 5 : 30);
  return {
    kind: "crash",
    crash: {
      after,
      // Often right at the call of the API, which the service has not got then.
      places: after === "api_call" ? places - 1 : places,
      downMs,
      // Four times in the same work park it.
      times: random() < 0.85 ? 1 : between(random, 3, 6),
      power: random() < 0.4,
      slot: slot(random),
    },
  };
}

function planRestart(random: Random): Happening {
  return { kind: "restart", slot: slot(random), timeoutMs: pick(random, [0, 0, 5 * SECOND]) };
}

function planStoreFault(random: Random): Happening {
  const fault = pick(random, ["store_busy", "store_full", "store_failed"] as const);
  return { kind: "store_fault", fault, forMs: between(random, SECOND, 10 * MINUTE) };
}

/** It matters most to a process that dies when the time for an answer is over and the commit is not. */
function planSlowDisk(seed: number, eventTimes: readonly number[]): Planned[] {
  const random = seededRandom(`slow disk ${seed}`);
  if (random() >= SLOW_DISKS) return [];
  const eventMs = pick(random, eventTimes);
  const callMs = between(random, 3 * SECOND, 9 * SECOND);
  const crashAfterMs = between(random, Math.min(ANSWER_MS, callMs), callMs);
  const crash = oneCrash(random, "now", 0);
  const slow: Happening = { kind: "slow_disk", callMs, forMs: between(random, 10 * SECOND, 2 * MINUTE) };
  return [{ atMs: eventMs - SECOND, happening: slow }, ...mostly(random, eventMs + crashAfterMs, crash)];
}

/** The last one of its slot. */
function oneCrash(random: Random, after: CrashPlan["after"], places: number): Happening {
  const downMs = between(random, SECOND, 20 * MINUTE);
  return { kind: "crash", crash: { after, places, downMs, times: 1, power: random() < 0.5, slot: slot(random) } };
}

const mostly = (random: Random, atMs: number, happening: Happening): Planned[] =>
  random() < 0.8 ? [{ atMs, happening }] : [];

/** Copies matter most to a process that dies right behind the first answer. */
function planCopies(random: Random, atMs: number): Planned[] {
  const copies: Happening = { kind: "copies", forMs: between(random, MINUTE, 3 * HOUR) };
  const crash = oneCrash(random, "answered", between(random, 0, 3));
  return [{ atMs, happening: copies }, ...mostly(random, atMs, crash)];
}

function planFreeze(random: Random): Happening {
  // Often so short that it goes on while the other process runs what it ran.
  const forMs = random() < 0.6 ? between(random, 2 * SECOND, 20 * SECOND) : between(random, 10 * SECOND, HOUR);
  return { kind: "freeze", slot: slot(random), losesLock: random() < 0.7, forMs };
}

function planFlood(random: Random): Happening {
  return { kind: "flood", type: pick(random, EVENT_TYPES), events: between(random, 130, 160) };
}

/** Mostly the first: of one process there is no other. */
function slot(random: Random): number {
  return random() < 0.7 ? 0 : 1;
}

function planCutOff(random: Random): Happening {
  return {
    kind: "cut_off",
    forMs: random() < 0.7 ? between(random, MINUTE, 3 * HOUR) : between(random, HOUR, 30 * HOUR),
  };
}

function planDeliveryFault(random: Random): Happening {
  const fault = pick(random, [
    () => ({ kind: "lose_answer" as const }),
    () => ({ kind: "lose_answer" as const }),
    () => ({ kind: "drop" as const }),
    () => ({ kind: "duplicate" as const, copies: between(random, 1, 9) }),
    () => ({ kind: "duplicate" as const, copies: between(random, 1, 9) }),
    () => ({ kind: "reorder" as const, maxMs: between(random, 0, 10 * MINUTE) }),
    () => ({ kind: "delay" as const, delayMs: between(random, 1, 10 * MINUTE) }),
    () => ({ kind: "status" as const, status: pick(random, [408, 429, 500, 502, 503, 503]) }),
    () => ({ kind: "status" as const, status: 503, retryAfter: String(between(random, 1, 8 * 3_600)) }),
    // A proxy's own mistakes, which lose events: the service's rules say so.
    () => ({ kind: "status" as const, status: pick(random, [301, 400, 404, 413]) }),
    () => ({ kind: "status" as const, status: 410 }),
  ])();
  const isFinal = fault.kind === "status" && isFinalStatus(fault.status);
  const times = isFinal ? between(random, 1, 3) : undefined;
  const rule = { fault, probability: pick(random, [0.3, 0.7, 1]), ...(times === undefined ? {} : { times }) };
  return { kind: "delivery_fault", rule, forMs: between(random, SECOND, 3 * HOUR) };
}

function isFinalStatus(status: number): boolean {
  return status < 500 && status !== 408 && status !== 429;
}

function planApiFault(random: Random): Happening {
  const fault = pick(random, [
    () => ({ kind: "no_answer" as const, executed: true }),
    () => ({ kind: "no_answer" as const, executed: true }),
    () => ({ kind: "no_answer" as const, executed: false }),
    () => ({ kind: "error" as const, status: 500, executed: true }),
    () => ({ kind: "error" as const, status: pick(random, [408, 500, 502, 503]) }),
    () => ({ kind: "error" as const, status: 429, retryAfter: String(between(random, 1, 600)) }),
    // The key was revoked by mistake, and later put right.
    () => ({ kind: "error" as const, status: pick(random, [401, 403]) }),
  ])();
  const rule = { fault, calls: "contactEvents.*", probability: pick(random, [0.3, 0.7, 1]) };
  return { kind: "api_fault", rule, forMs: between(random, SECOND, 5 * HOUR) };
}

function planClockOff(random: Random): Happening {
  const sign = random() < 0.5 ? -1 : 1;
  const byMs = sign * between(random, 0, pick(random, [10 * MINUTE, 6 * HOUR, 72 * HOUR]));
  return { kind: "clock_off", byMs, forMs: between(random, MINUTE, 6 * HOUR) };
}

function planRotation(random: Random): Happening {
  return { kind: "rotation", handedOverAfterMs: random() < 0.5 ? 0 : between(random, SECOND, 3 * HOUR) };
}

/** 0 to `most` of something. */
function several<Thing>(random: Random, most: number, make: () => Thing): Thing[] {
  return Array.from({ length: between(random, 0, most) }, make);
}

/** A whole number. */
function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}
