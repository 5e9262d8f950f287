import type { OutboxSender } from "../outbox/outbox-sender.js";
import type { GateName } from "../store/figures.js";
import type { Gate, GatedWork, ReadyWork, WindowLease } from "./gate.js";
import { BatchGate } from "./gates/batch.js";
import { CrashGate } from "./gates/crash.js";
import { KeyGate } from "./gates/key.js";
import { PausedGate } from "./gates/paused.js";
import { PlacesGate } from "./gates/places.js";
import { RateGate, type RateLane } from "./gates/rate.js";
import { RetryAfterGate } from "./gates/retry-after.js";
import { StoreGate } from "./gates/store.js";
import type { RegisteredHandler } from "./handler.js";
import type { LeaseWindow } from "./lease-window.js";
import { Leases } from "./leases.js";
import type { StoreDeps } from "./registry.js";
import type { RunOutcome, RunResult, Runner } from "./runner.js";

/** A handler with its leased work, as the scheduler needs it. */
export interface Lane extends RateLane {
  /** The handler's name. */
  readonly handler: string;
  readonly window: LeaseWindow;
  readonly places: PlacesGate;
  readonly gates: readonly Gate[];
  /** The number of its last turn. */
  lastTurn: number;
  /** The gate that keeps all its work in the store, if one does. */
  holder(): Gate | undefined;
  /** There is, or may be, due work of the handler in the store. */
  wake(): void;
  /** Leases a piece of its crash-looping work, if some is due. Never rejects. */
  leaseCrashLooping(): Promise<WindowLease | undefined>;
  /** Never rejects. A handler of batches takes other waiting work along. */
  run(ready: ReadyWork): Promise<RunResult>;
  /** `result` is undefined for work that did not run after all. */
  settle(lease: WindowLease, result: RunResult | undefined): Promise<void>;
}

/** What runs handlers over the work of a store. */
export interface DispatcherDeps extends StoreDeps {
  runner: Runner;
  /** Undefined when nothing can be sent. */
  sender: Pick<OutboxSender, "start" | "wake" | "poll"> | undefined;
}

/**
 * Answers one question: may this leased work begin now? Its gates are asked in order, and the first one that is shut
 * keeps it waiting. All are asked again when a run has ended, work has arrived, or a gate may have opened.
 */
export class Scheduler {
  readonly paused: PausedGate;
  readonly store: StoreGate;
  readonly retryAfter: RetryAfterGate;
  readonly crash: CrashGate;
  readonly progress = new RunProgress();
  readonly leases: Leases;
  readonly #deps: StoreDeps;
  /** The gates of all handlers, in the order in which they are asked. */
  readonly #shared: readonly Gate[];
  readonly #lanes: ReadonlyMap<string, Lane>;
  #fairShare: PlacesGate | undefined;
  #turns = 0;

  /** `lanes`: of all handlers by name, also those that are added later. */
  constructor(lanes: ReadonlyMap<string, Lane>, deps: StoreDeps) {
    this.#lanes = lanes;
    this.#deps = deps;
    this.leases = new Leases(deps);
    this.paused = new PausedGate(deps);
    this.store = new StoreGate(deps.clock);
    this.retryAfter = new RetryAfterGate(deps.clock);
    this.crash = new CrashGate(deps.clock);
    this.#shared = [this.paused, this.store, this.retryAfter, this.crash];
  }

  /** All that can keep work of a handler waiting, in the order in which it is asked. */
  gatesOf({ key, batch, rate, ...handler }: RegisteredHandler, lane: Lane): readonly Gate[] {
    const own: Gate[] = key === undefined ? [] : [new KeyGate(lane.window, this.#deps)];
    if (batch !== undefined) own.push(new BatchGate(lane.window, batch, this.#deps.clock));
    // Last: what is reserved for work that may not begin is lost.
    if (rate !== undefined) own.push(new RateGate({ ...handler, key, batch, rate }, { ...this.#deps, lane }));
    const fairShare = this.#fairShare === undefined ? [] : [this.#fairShare];
    return [...this.#shared, lane.places, ...fairShare, ...own];
  }

  /**
   * The places of a handler. Of two and more, none may have more than half of all places, also while no other has work:
   * it would keep them until its runs end. A single place is used by all in turn.
   */
  placesOf({ concurrency }: RegisteredHandler): PlacesGate {
    const { all, concurrency: places } = this.#deps.registry;
    if (all.length === 1) return new PlacesGate("concurrency", concurrency);
    this.#fairShare ??= new PlacesGate("fair_share", places);
    return new PlacesGate("concurrency", Math.min(concurrency, Math.max(1, Math.floor(places / 2))));
  }

  /** What keeps work waiting, by handler; handlers whose work could begin at once are left out. */
  get waitsFor(): Record<string, GateName> {
    const shut = [...this.#lanes.values()].map((lane): [string, Gate | undefined] => {
      const [next] = lane.window.waiting;
      return [lane.handler, lane.holder() ?? (next && shutGate(lane, next.lease))];
    });
    return Object.fromEntries(shut.flatMap(([handler, gate]) => (gate === undefined ? [] : [[handler, gate.name]])));
  }

  /** Work may have become pending in the store, or a gate may have opened. */
  wake(): void {
    for (const lane of this.#lanes.values()) lane.wake();
    this.look();
  }

  /** Leases a piece of crash-looping work. The caller ensures that nothing else runs. Never rejects. */
  async leaseCrashLooping(): Promise<WindowLease | undefined> {
    let lease: WindowLease | undefined;
    for (const lane of this.#lanes.values()) lease ??= await lane.leaseCrashLooping();
    return lease;
  }

  /**
   * Runs crash-looping work while no other work may begin, each piece when the one before is settled. Other work may
   * begin for the first time after it.
   */
  async runCrashLooping(findFirst = () => this.leaseCrashLooping()): Promise<void> {
    await this.crash.run(async () => {
      for (let lease = await findFirst(); lease; lease = await this.leaseCrashLooping()) {
        this.look();
        const { window } = this.#lanes.get(lease.handler) ?? {};
        while (window?.has(lease) === true) await this.progress.untilChanged();
      }
    });
    this.wake();
  }

  /**
   * Begins all work that may begin now. Of several handlers, the one with the fewest runs is asked first; of those, the
   * one whose last turn is longest ago.
   */
  look(lanes: Iterable<Lane> = this.#lanes.values()): void {
    let left: Lane[] = [];
    for (const lane of lanes) if (lane.window.waiting.length > 0) left.push(lane);
    while (left.length > 0) {
      const lane = left.reduce((first, other) => (isBefore(other, first) ? other : first));
      if (!this.#beginNext(lane)) left = left.filter((other) => other !== lane);
    }
  }

  /** False when no work of the handler may begin. */
  #beginNext(lane: Lane): boolean {
    const { window } = lane;
    if (window.isClosed) return false;
    let others = 0;
    for (const ready of window.waiting) {
      const { lease } = ready;
      if (window.isStale(lease)) continue;
      const gate = shutGate(lane, lease);
      if (gate === undefined) {
        this.#begin(lane, ready);
        return true;
      }
      // Other work of the handler may have another gate: crash-looping work begins while all else waits.
      if (gate.keeps === "in_store") continue;
      if (gate.keeps === "handler") {
        if (gate.seek !== undefined) lane.lookTimer.setTo(gate.seek());
        return false;
      }
      const asked = gate.overflow?.(lease, others);
      others += 1;
      if (asked !== undefined) {
        window.begin(ready);
        void asked.then(() => lane.settle(lease, undefined));
        return true;
      }
    }
    return false;
  }

  #begin(lane: Lane, ready: ReadyWork): void {
    // Not the event and the body, which are released with the run.
    const { lease } = ready;
    lane.window.begin(ready);
    lane.lastTurn = this.#turns += 1;
    void this.#run(lane, ready).then((result) => {
      for (const gate of lane.gates) gate.leave?.(lease, result?.ends ?? []);
      void lane.settle(lease, result);
      this.look();
    });
  }

  #run(lane: Lane, ready: ReadyWork): Promise<RunResult | undefined> {
    const { lease } = ready;
    let asked: Promise<boolean> | undefined;
    for (const gate of lane.gates) asked = gate.enter?.(lease, asked) ?? asked;
    if (asked === undefined) return lane.run(ready);
    // What may have changed while the store was asked.
    const mayRun = (): boolean =>
      !lane.window.isClosed && !lease.isLost && this.#shared.every((gate) => gate.allows(lease));
    return asked.then((isIn) => (isIn && mayRun() ? lane.run(ready) : undefined));
  }
}

function isBefore(one: Lane, other: Lane): boolean {
  const places = one.places.taken - other.places.taken;
  return places < 0 || (places === 0 && one.lastTurn < other.lastTurn);
}

/** The first gate that keeps the work waiting. */
function shutGate({ gates }: Lane, work: GatedWork): Gate | undefined {
  for (const gate of gates) if (!gate.allows(work)) return gate;
  return undefined;
}

/** How the runs of a dispatcher have ended, and when nothing may be left to do. */
export class RunProgress {
  /** Runs since the start, by how they ended. */
  readonly outcomes: Record<RunOutcome, number> = { done: 0, retry: 0, dead: 0, interrupted: 0, lost: 0 };
  #waiting: (() => void)[] = [];

  /** Something has changed that may leave nothing to do. */
  noteChange(): void {
    if (this.#waiting.length > 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves at the next change. */
  untilChanged(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
