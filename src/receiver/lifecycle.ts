import { waitingClock } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { inTime } from "../base/wait.js";
import type { Store } from "../store/store.js";
import type { ReceiverParts } from "./receiver-parts.js";
import { readLevels } from "./stats.js";
import { loadTelemetry } from "./telemetry.js";

/** At the end, times and counts are noted within this time; a server may have fallen silent. */
const NOTED_WITHIN_MS = 5 * SECOND;

/** Stores that a receiver of this process has opened. */
const OWNED = new WeakSet<Store<unknown>>();

/**
 * Takes a receiver from one state to the next. Each transition happens once, also when it is asked for several times.
 */
export class Lifecycle {
  readonly #parts: ReceiverParts;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #ownsStore = false;
  #noteStop: () => void = () => undefined;
  /** Resolves when a stop is asked for, so that a step of the start can end its wait. */
  readonly #stopAsked: Promise<void>;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    this.#stopAsked = new Promise((resolve) => (this.#noteStop = resolve));
  }

  start(): Promise<void> {
    const { state } = this.#admission;
    if (state === "stopping" || state === "stopped") {
      return Promise.reject(new PigeonholeError("stopped", "The receiver was stopped; create a new one."));
    }
    this.#starting ??= this.#start();
    return this.#starting;
  }

  stop(timeoutMs: number): Promise<void> {
    this.#stopping ??= this.#stop(timeoutMs);
    return this.#stopping;
  }

  /** Holds the state, because it decides which deliveries can be taken. */
  get #admission() {
    return this.#parts.path.admission;
  }

  get #isToStop(): boolean {
    return this.#stopping !== undefined || this.#admission.state === "stopping";
  }

  async #start(): Promise<void> {
    this.#admission.state = "starting";
    try {
      for (const step of this.#steps) {
        if (this.#isToStop) return;
        await step();
      }
      if (this.#isToStop) return;
      this.#admission.state = "running";
    } catch (error) {
      this.#parts.watches.startError = error;
      this.#parts.path.telemetry?.stop();
      // Another receiver can open the store then. The first error is more useful than one of the cleanup.
      await this.#closeStore().catch(() => undefined);
      this.#starting = undefined;
      if (!this.#isToStop) this.#admission.state = "new";
      throw error;
    }
  }

  /** Run one after the other; none begins once a stop was asked for. */
  get #steps(): (() => unknown)[] {
    const parts = this.#parts;
    const { options, path, inStore, watches, sender } = parts;
    const runsHandlers = options.role !== "accept";
    return [
      () => {
        watches.startError = undefined;
        path.registry.freeze();
      },
      () => Promise.race([path.verification.secrets.load(), this.#stopAsked]),
      async () => {
        if (!options.telemetry) return;
        path.telemetry = await loadTelemetry(() => readLevels(parts));
        if (sender !== undefined) sender.observer = path.telemetry;
      },
      () => this.#openStore(runsHandlers),
      () => path.report.clockWatch.start(),
      async () => {
        if (!runsHandlers) return;
        await path.dispatcher.start(path.telemetry);
        inStore.pruner.start();
      },
      () => inStore.figures.start(),
      () => watches.work.start(),
      () => watches.repairer?.start(),
    ];
  }

  /** Rejects with `invalid_option` while another receiver uses the store, since that one would close it. */
  async #openStore(runsHandlers: boolean): Promise<void> {
    const { options, path } = this.#parts;
    const { store, logger, clock } = options;
    if (OWNED.has(store)) {
      throw new PigeonholeError(
        "invalid_option",
        "The store is in use by another receiver of this process, which closes it when it stops. Give each receiver its own Store.",
      );
    }
    OWNED.add(store);
    this.#ownsStore = true;
    await store.open({ logger, clock, runsHandlers, onAlarm: (alarm) => path.report.alarms.raise(alarm) });
  }

  /** Does not close a store that this receiver has not opened. */
  async #closeStore(): Promise<void> {
    if (!this.#ownsStore) return;
    const { store } = this.#parts.options;
    this.#ownsStore = false;
    await store.close().finally(() => OWNED.delete(store));
  }

  async #stop(timeoutMs: number): Promise<void> {
    this.#admission.state = "stopping";
    this.#noteStop();
    try {
      await this.#starting?.catch(() => undefined);
      await this.#stopAll(timeoutMs);
    } finally {
      this.#admission.state = "stopped";
    }
  }

  async #stopAll(timeoutMs: number): Promise<void> {
    const { path, inStore, watches, drainer, sender } = this.#parts;
    // A process without a listener must run until all is settled, and the clock's timers do not keep it alive.
    const keepAlive = setInterval(() => undefined, MINUTE);
    inStore.pruner.stop();
    const repaired = watches.repairer?.stop();
    path.telemetry?.stop();
    try {
      await drainer.stop();
      watches.work.stop();
      await Promise.all([path.dispatcher.stop(timeoutMs), path.admission.untilNoneWaits(timeoutMs)]);
      const written = inStore.figures.stop();
      await sender?.stop();
      const noted = path.report.clockWatch.stop().then(() => inStore.counter.count());
      await inTime(Promise.allSettled([noted, written, repaired]), waitingClock, NOTED_WITHIN_MS);
    } finally {
      await this.#closeStore().finally(() => clearInterval(keepAlive));
    }
  }
}
