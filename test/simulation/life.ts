import { setImmediate } from "node:timers/promises";
import type { Receiver, Store } from "pigeonhole";
import type { MachineClock } from "./machine-clock.js";
import type { CrashPlan, Place } from "./plan.js";
import type { SharedFile } from "./shared-file.js";

/** Thrown where a process dies in the middle of synchronous code, which it must not go on with. */
class Died extends Error {}

interface ExpectedCrash {
  plan: CrashPlan;
  /** Undefined until the place that it follows on. */
  placesLeft: number | undefined;
}

interface LifeOptions {
  file: string;
  clock: MachineClock;
  shared: SharedFile;
  onCrash: (place: Place) => void;
}

/**
 * One life of the receiver's process. It passes through named places, and at one of them it may die. A crash takes a
 * copy of the files at that instant, on which the next life begins, and cuts the dead one off: what it still writes
 * goes to files that nobody reads, its timers do not fire, and no message leaves or reaches it.
 */
export class Life {
  readonly file: string;
  readonly clock: MachineClock;
  receiver: Receiver | undefined;
  store: Store | undefined;
  isServing = false;
  isAlive = true;
  /** It stood still so long that another process could take its place: what it begins then may be begun twice. */
  hasLostLock = false;
  readonly shared: SharedFile;
  /** Rejects when the process dies: all connections to it break off. */
  readonly death: Promise<never>;
  readonly #onCrash: (place: Place) => void;
  /** What a dead process waits for. One for all lives would keep every one of them in memory. */
  readonly #never = new Promise<never>(() => {});
  #breakOff: (error: Error) => void = () => {};
  #crash: ExpectedCrash | undefined;
  #thawed: Promise<void> | undefined;
  #thaw: (() => void) | undefined;
  /** Rejects when the connections to the process are given up. */
  connection: Promise<never> = this.#never;
  #breakConnections: (error: Error) => void = () => {};

  constructor(options: LifeOptions) {
    this.file = options.file;
    this.shared = options.shared;
    this.clock = options.clock;
    this.#onCrash = options.onCrash;
    this.death = new Promise<never>((_, reject) => (this.#breakOff = reject));
    this.death.catch(() => undefined);
    this.#connect();
  }

  #connect(): void {
    this.connection = Promise.race([this.death, new Promise<never>((_, reject) => (this.#breakConnections = reject))]);
    this.connection.catch(() => undefined);
  }

  /** The process is to die so many places after the next one of that kind. */
  expectCrash(plan: CrashPlan): void {
    this.#crash = { plan, placesLeft: undefined };
    if (plan.after === "now") this.#begin(this.#crash);
  }

  /** True when the process is alive behind this place. */
  passes(place: Place): boolean {
    const crash = this.#crash;
    if (!this.isAlive || crash === undefined) return this.isAlive;
    if (crash.placesLeft === undefined) {
      if (crash.plan.after !== place) return true;
      if (crash.plan.places < 0) this.#die(place);
      else this.#begin(crash);
      return this.isAlive;
    }
    if (crash.placesLeft <= 0) this.#die(place);
    else crash.placesLeft -= 1;
    return this.isAlive;
  }

  /** For synchronous code. */
  passOrThrow(place: Place): void {
    if (!this.passes(place)) throw new Died("The process died here.");
  }

  /** Does something between two places; what a dead process waits for never comes. */
  async between<Value>(before: Place, after: Place, run: () => Promise<Value>): Promise<Value> {
    if (!this.passes(before)) return this.#never;
    try {
      const value = await run();
      await this.#thawed;
      return this.passes(after) ? value : await this.#never;
    } catch (error) {
      await this.#thawed;
      if (!this.isAlive) return this.#never;
      throw error;
    }
  }

  get isFrozen(): boolean {
    return this.#thaw !== undefined;
  }

  /**
   * Stands still: no timer fires, and no answer of a store or an API arrives, until `thaw`. Connections are given up.
   */
  freeze(): void {
    this.clock.freeze(true);
    this.#thawed = new Promise((resolve) => (this.#thaw = resolve));
    this.#breakConnections(new Error("no answer"));
    this.#connect();
  }

  thaw(): void {
    this.clock.freeze(false);
    this.#thaw?.();
    this.#thaw = undefined;
  }

  /** Dies with its machine, or with the last of its connections to a file that another process works on. */
  cutOff(): void {
    this.end();
    this.#breakOff(new Error("connection reset"));
  }

  /** Ends in an orderly way. */
  end(): void {
    this.isAlive = false;
    this.isServing = false;
    this.clock.die();
  }

  #die(place: Place): void {
    this.cutOff();
    this.#onCrash(place);
  }

  /**
   * From here on each turn of the event loop is a place too, so that a crash can come where nothing of ours is called.
   */
  #begin(crash: ExpectedCrash): void {
    crash.placesLeft = crash.plan.places;
    void (async () => {
      while (this.passes("turn")) await setImmediate();
    })();
  }
}
