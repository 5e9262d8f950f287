import { setImmediate } from "node:timers/promises";
import type { StoreOverview } from "#pigeonhole/store/inbox-operator.js";
import type { SendRequest } from "#pigeonhole/store/outbox.js";
import type { LeasePage, LeaseRequest, NewEvent, PruneLimits, RecoverResult } from "#pigeonhole/store/store.js";
import type { Settlement } from "#pigeonhole/store/work.js";
import type { PigeonholeError, Store } from "pigeonhole";
import type { Random } from "#pigeonhole/base/random.js";
import type { Life } from "./life.js";
import { SlowDisk } from "./slow-disk.js";
import type { WorldClock } from "./world-clock.js";

interface WatchOptions {
  life: Life;
  random: Random;
  /** Turns of the event loop before a call is made and before its answer comes, at the most. */
  turns: number;
  Refusal: typeof PigeonholeError;
  time: WorldClock;
}

/** What may make work due, and what may make a contact event due. */
const MAKES_WORK = new Set([
  "accept",
  "settle",
  "release",
  "recover",
  "replan",
  "changeWork",
  "restartWaits",
  "beginNewest",
]);
const MAKES_SENDS = new Set([
  "commit",
  "settle",
  "record",
  "settleSend",
  "recover",
  "changeContactEvent",
  "restartWaits",
]);
const FIGURES = new Set(["overview"]);
/** What leaves the figures as they are. */
const KEEPS_FIGURES = new Set([
  "renew",
  "noteTimes",
  "writeFigures",
  "keepPolicies",
  "reserveRuns",
  "loadSteps",
  "saveStep",
  "listEvents",
  "getEvent",
  "listStuck",
  "listContactEvents",
  "listJobs",
]);
interface Page {
  work?: unknown[];
  send?: unknown;
  nextDueAt: number | undefined;
  hasHistory?: boolean;
}
type AnyMethod = (...args: unknown[]) => Promise<unknown>;

/**
 * A store that stands at the other end of a thread: a call waits for the batch before it, and its answer comes some
 * time after the commit. Each call is two places at which the process may die: before its transaction, or between that
 * and the answer.
 */
export function watchStore(store: Store, options: WatchOptions): Store {
  const { life, random, turns, Refusal, time } = options;
  const { shared } = life;
  const disk = new SlowDisk(life, time);
  const idle = new Map<string, { version: number; page: { nextDueAt: number | undefined } }>();
  const figures = new Map<string, { version: number; value: object }>();
  let isBroken = false;
  /** What this life was told when it last asked the store whether it is the owner. */
  let isOwner: boolean | undefined;

  const wait = async (): Promise<void> => {
    for (let left = Math.floor(random() * random() * (turns + 1)); left > 0; left -= 1) await setImmediate();
  };

  function refuse(): void {
    if (shared.fault === "store_failed") isBroken = true;
    const code = isBroken ? "store_failed" : shared.fault;
    if (code !== undefined) throw new Refusal(code, "The simulated disk refuses.");
  }

  /** Nothing has changed since a look that found nothing: the store need not be asked again. */
  function findIdle(name: string, { handler = "", now }: { handler?: string; now: number }): object | undefined {
    const last = idle.get(`${name} ${handler}`);
    if (last === undefined || last.version !== versionOf(name)) return undefined;
    return last.page.nextDueAt === undefined || last.page.nextDueAt > now ? last.page : undefined;
  }

  /** Nothing has changed since the figures were read; those of pending work depend on the time as well. */
  function findFigures(name: string): object | undefined {
    const last = figures.get(name);
    return last?.version === shared.figureVersion && !hasPending(last.value) ? last.value : undefined;
  }

  /**
   * Nothing is leased that a dead process could have left, or the owner lives: taking over need not be tried each
   * second.
   */
  function findRecovered(): RecoverResult | undefined {
    const { owner } = shared;
    const isOwned = owner !== life && owner?.isAlive === true && !owner.hasLostLock;
    if (isOwner === false && isOwned) return { owner: false, recovered: 0, parked: 0 };
    if (isOwner !== true || life.hasLostLock || life.isFrozen) return undefined;
    return countLeased() === 0 ? { owner: true, recovered: 0, parked: 0 } : undefined;
  }

  /** NaN unless the figures are those of this moment. */
  function countLeased(): number {
    const last = figures.get("overview");
    if (last?.version !== shared.figureVersion) return Number.NaN;
    const { events, contactEvents } = last.value as StoreOverview;
    return events.running + contactEvents.running + contactEvents.retrying;
  }

  /** What is in the file is younger than all limits. */
  function findPruned({ idsBefore, bodiesBefore, sentBefore }: PruneLimits): number | undefined {
    return Math.max(idsBefore, bodiesBefore, sentBefore) <= shared.oldestMs ? 0 : undefined;
  }

  /** The answer of a call that would change nothing, where it is known beforehand. */
  function findKnown(name: string, args: unknown[]): unknown {
    switch (name) {
      case "lease":
      case "leaseSend":
        return findIdle(name, args[0] as LeaseRequest | SendRequest);
      case "overview":
        return findFigures(name);
      case "recover":
        return findRecovered();
      case "prune":
        return findPruned(args[0] as PruneLimits);
      // The system answers after as many turns of the event loop as it likes, in which other calls pass it.
      case "readDiskUse":
        return { usedBytes: undefined, freeBytes: undefined };
      default:
        return undefined;
    }
  }

  function versionOf(name: string): number {
    return name === "lease" ? shared.workVersion : shared.sendVersion;
  }

  function note(name: string, args: unknown[], value: unknown, version: number): void {
    if (MAKES_WORK.has(name) && !isWithoutWork(name, args, value)) shared.workVersion += 1;
    if (MAKES_SENDS.has(name) && !isWithoutRecords(name, args, value)) shared.sendVersion += 1;
    for (const written of [args[0]].flat()) shared.wrote(written);
    if (name === "noteTimes") shared.keepsTimes((args[0] as { clock?: number }).clock, time.now());
    if (name === "recover") noteOwner((value as RecoverResult).owner);
    if (name === "restartWaits") shared.restartsWaits();
    if (name === "lease") {
      for (const lease of (value as LeasePage).work) shared.leased(lease, (args[0] as LeaseRequest).now);
    }
    // A wait that begins meanwhile keeps the work in memory.
    if (name === "accept") for (const lease of (value as { leases?: [] }).leases ?? []) shared.leased(lease, Infinity);
    if ((name === "settle" && value === "settled") || name === "commit")
      for (const settlement of settlementsOf(args)) shared.settled(settlement);
    if (name !== "lease" && name !== "leaseSend") return;
    const page = value as Page;
    const isEmpty = isEmptyPage(page);
    const { handler = "" } = args[0] as { handler?: string };
    if (isEmpty) idle.set(`${name} ${handler}`, { version, page });
    else idle.delete(`${name} ${handler}`);
  }

  function noteOwner(owner: boolean): void {
    isOwner = owner;
    if (owner) shared.owner = life;
  }

  async function call(name: string, method: AnyMethod, args: unknown[]): Promise<unknown> {
    refuse();
    if (name === "prune") shared.prunes(args[0] as PruneLimits, time.now());
    const known = findKnown(name, args);
    if (known !== undefined) return known;
    await wait();
    // What a dead process has not handed over is never done.
    if (!life.isAlive) return undefined;
    const version = versionOf(name);
    const { figureVersion } = shared;
    const value = await method(...args).catch((error: unknown) => {
      shared.figureVersion += 1;
      throw error;
    });
    note(name, args, value, version);
    if (FIGURES.has(name)) figures.set(name, { version: figureVersion, value: value as object });
    else if (changesFigures(name, value)) shared.figureVersion += 1;
    await wait();
    return value;
  }

  const watch = <Target extends object>(watched: Target): Target =>
    new Proxy(watched, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as AnyMethod;
        if (typeof name !== "string" || typeof method !== "function" || name === "close") return method;
        if (name === "openOperator")
          return (...args: Parameters<Store["openOperator"]>) => watch(store.openOperator(...args));
        if (name === "open") return (...args: unknown[]) => life.between("call", "answer", () => method(...args));
        const callIt = (args: unknown[]): Promise<unknown> => time.hold(() => call(name, method, args));
        return (...args: unknown[]) =>
          life.between("call", "answer", () =>
            disk.delays(name) ? disk.wait().then(() => callIt(args)) : callIt(args),
          );
      },
    });
  return watch(store);
}

function isWithoutWork(name: string, args: unknown[], value: unknown): boolean {
  if (name === "settle") return (args[0] as Settlement).to === "done";
  // All of it was leased as it came.
  if (name === "accept") return ((value as { leases?: [] }).leases?.length ?? 0) === (args[0] as NewEvent).work.length;
  if (name === "restartWaits") return value === 0;
  return name === "recover" && (value as { recovered: number }).recovered === 0;
}

function isWithoutRecords(name: string, args: unknown[], value: unknown): boolean {
  if (name === "restartWaits") return value === 0;
  if (name !== "settle" && name !== "commit") return false;
  return settlementsOf(args).every(({ to, ...rest }) => to !== "done" || !("records" in rest) || !rest.records?.length);
}

/** One of `settle`, one or several of `commit`. */
function settlementsOf([given]: unknown[]): Settlement[] {
  return [given as Settlement | Settlement[]].flat();
}

function isEmptyPage({ work, send, hasHistory }: Page): boolean {
  return work === undefined ? send === undefined : work.length === 0 && hasHistory !== true;
}

function hasPending(value: object): boolean {
  return (value as StoreOverview).events.pending > 0;
}

function changesFigures(name: string, value: unknown): boolean {
  switch (name) {
    case "lease":
    case "leaseSend":
      return !isEmptyPage(value as Page);
    case "recover": {
      const { recovered, parked } = value as RecoverResult;
      return recovered > 0 || parked > 0;
    }
    case "prune":
      return value !== 0;
    default:
      return !KEEPS_FIGURES.has(name);
  }
}
