import { setImmediate } from "node:timers/promises";
import type { LeasePage, LeaseRequest, PruneLimits, RecoverResult } from "#pigeonhole/store/store.js";
import type { Settlement } from "#pigeonhole/store/work.js";
import type { PigeonholeError, Store } from "pigeonhole";
import type { Random } from "#pigeonhole/base/random.js";
import type { Life } from "./life.js";
import type { WorldClock } from "./world-clock.js";

interface WatchOptions {
  life: Life;
  random: Random;
  /** Turns of the event loop before a call is made and before its answer comes, at the most. */
  turns: number;
  Refusal: typeof PigeonholeError;
  time: WorldClock;
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
  let isBroken = false;
  /** When the disk is through with what it was given before. */
  let throughMs = 0;

  const wait = async (): Promise<void> => {
    for (let left = Math.floor(random() * random() * (turns + 1)); left > 0; left -= 1) await setImmediate();
  };

  /** The disk may take long for what a delivery writes. Calls end in the order in which they came. */
  async function waitForDisk(): Promise<void> {
    throughMs = Math.max(throughMs, time.elapsedMs + shared.slowMs);
    const leftMs = throughMs - time.elapsedMs;
    // The receiver's own limit for an answer must be on time.
    life.clock.wake(leftMs);
    await new Promise<void>((resolve) => void time.setTimer(resolve, leftMs));
  }

  const isSlow = (name: string): boolean => name === "accept" && (shared.slowMs > 0 || throughMs > time.elapsedMs);

  function refuse(): void {
    if (shared.fault === "store_failed") isBroken = true;
    const code = isBroken ? "store_failed" : shared.fault;
    if (code !== undefined) throw new Refusal(code, "The simulated disk refuses.");
  }

  function note(name: string, args: unknown[], value: unknown): void {
    switch (name) {
      case "noteTimes":
        return shared.keepsTimes((args[0] as { clock?: number }).clock, time.now());
      case "recover":
        if ((value as RecoverResult).owner) shared.owner = life;
        return;
      case "restartWaits":
        return shared.restartsWaits();
      case "lease":
        for (const lease of (value as LeasePage).work) shared.leased(lease, (args[0] as LeaseRequest).now);
        return;
      // A wait that begins meanwhile keeps the work in memory.
      case "accept":
        for (const lease of (value as { leases?: [] }).leases ?? []) shared.leased(lease, Infinity);
        return;
      case "settle":
      case "commit":
        // One, or several of a commit.
        if (value === "lost") return;
        for (const settlement of [args[0] as Settlement | Settlement[]].flat()) shared.settled(settlement);
    }
  }

  async function call(name: string, method: AnyMethod, args: unknown[]): Promise<unknown> {
    refuse();
    if (name === "prune") shared.prunes(args[0] as PruneLimits, time.now());
    // The system answers after as many turns of the event loop as it likes, in which other calls pass it.
    if (name === "readDiskUse") return { usedBytes: undefined, freeBytes: undefined };
    await wait();
    // What a dead process has not handed over is never done.
    if (!life.isAlive) return undefined;
    const value = await method(...args);
    note(name, args, value);
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
          life.between("call", "answer", () => (isSlow(name) ? waitForDisk().then(() => callIt(args)) : callIt(args)));
      },
    });
  return watch(store);
}
