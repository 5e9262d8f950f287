import { setImmediate } from "node:timers/promises";
import type { Receiver, Store } from "pigeonhole";
import type { MachineClock } from "./machine-clock.js";
import type { CrashPlan, Place } from "./plan.js";

/** What a dead process waits for. */
const NEVER = new Promise<never>(() => {});

/** Thrown where a process dies in the middle of synchronous code, which it must not go on with. */
class Died extends Error {}

interface ExpectedCrash {
  plan: CrashPlan;
  /** Undefined until the place that it follows on. */
  placesLeft: number | undefined;
}

/**
 * One life of the receiver's process. It passes through named places, and at one of them it may die. A crash takes a copy of
 * the files at that instant, on which the next life begins, and cuts the dead one off: what it still writes goes to files that
 * nobody reads, its timers do not fire, and no message leaves or reaches it.
 */
export class Life {
  readonly file: string;
  readonly clock: MachineClock;
  receiver: Receiver | undefined;
  store: Store | undefined;
  isServing = false;
  isAlive = true;
  /** Rejects when the process dies: whoever has a connection to it sees it break off. */
  readonly death: Promise<never>;
  readonly #onCrash: (place: Place) => void;
  #breakOff: (error: Error) => void = () => {};
  #crash: ExpectedCrash | undefined;

  constructor(options: { file: string; clock: MachineClock; onCrash: (place: Place) => void }) {
    this.file = options.file;
    this.clock = options.clock;
    this.#onCrash = options.onCrash;
    this.death = new Promise<never>((_, reject) => (this.#breakOff = reject));
    this.death.catch(() => undefined);
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
      if (crash.plan.after === place) this.#begin(crash);
      return true;
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
    if (!this.passes(before)) return NEVER;
    try {
      const value = await run();
      return this.passes(after) ? value : await NEVER;
    } catch (error) {
      if (!this.isAlive) return NEVER;
      throw error;
    }
  }

  /** Ends in an orderly way. */
  end(): void {
    this.isAlive = false;
    this.isServing = false;
    this.clock.die();
  }

  /** A store whose every call is two places: it may die before the transaction or between it and its answer. */
  watchStore(store: Store): Store {
    this.store = store;
    return new Proxy(store, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        if (name === "close") return method;
        return (...args: unknown[]) => this.between("call", "answer", () => method(...args));
      },
    });
  }

  #die(place: Place): void {
    this.end();
    this.#onCrash(place);
    this.#breakOff(new Error("connection reset"));
  }

  /** From here on each turn of the event loop is a place too, so that a crash can come where nothing of ours is called. */
  #begin(crash: ExpectedCrash): void {
    crash.placesLeft = crash.plan.places;
    void (async () => {
      while (this.passes("turn")) await setImmediate();
    })();
  }
}
