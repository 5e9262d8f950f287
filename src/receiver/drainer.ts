import { type Clock, waitingClock } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { inTime, untilAborted } from "../base/wait.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import type { RunObserver } from "../dispatch/runner.js";
import type { OutboxSender } from "../outbox/outbox-sender.js";
import type { Pruner } from "./pruner.js";
import type { DrainResult, ReceiverState } from "./receiver.js";
import type { WorkWatch } from "./work-watch.js";

/** What a drain has left is looked at for so long; the handlers have ended by then. */
const CHECKED_WITHIN_MS = 2 * SECOND;
/** How long the removal of old rows that is under way is waited for: a server may have fallen silent. */
const PRUNED_WITHIN_MS = 2 * SECOND;

export interface DrainerDeps {
  admission: { readonly state: ReceiverState };
  /** The one that runs handlers all the time, or creates one where handlers run only while the work is drained. */
  dispatcher: Dispatcher | (() => Dispatcher);
  sender: OutboxSender | undefined;
  pruner: Pruner;
  workWatch: WorkWatch;
  clock: Clock;
}

/** Works off what is due, within a time. */
export class Drainer {
  readonly #deps: DrainerDeps;
  #current: Promise<DrainResult> | undefined;
  #ending: AbortController | undefined;
  #isStopping = false;

  constructor(deps: DrainerDeps) {
    this.#deps = deps;
  }

  /** Called while it drains already, it is the same drain. Rejects with `stopped` unless the receiver runs. */
  drain(timeoutMs: number, observer: RunObserver | undefined): Promise<DrainResult> {
    if (this.#deps.admission.state !== "running") {
      return Promise.reject(new PigeonholeError("stopped", "The receiver does not run; await receiver.start() first."));
    }
    this.#current ??= this.#drain(timeoutMs, observer).finally(() => (this.#current = undefined));
    return this.#current;
  }

  /** Ends the drain in progress. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#ending?.abort();
    await this.#current?.catch(() => undefined);
  }

  async #drain(timeoutMs: number, observer: RunObserver | undefined): Promise<DrainResult> {
    const { dispatcher: given, sender, workWatch } = this.#deps;
    // A script may have nothing else to do, and the clock's timers do not keep it alive.
    const keepAlive = setInterval(() => undefined, MINUTE);
    const ending = new AbortController();
    this.#ending = ending;
    this.#isStopping = false;
    const isTemporary = typeof given === "function";
    const dispatcher = isTemporary ? given() : given;
    const before = { ...dispatcher.outcomes, sent: sender?.sent ?? 0 };
    let [isOwner, drained] = [false, false];
    try {
      if (isTemporary) await dispatcher.start(observer);
      ({ isOwner } = dispatcher);
      drained = isOwner && (await this.#untilIdle(dispatcher, timeoutMs, { ending, prunes: isTemporary }));
    } finally {
      ending.abort();
      try {
        if (isTemporary) await dispatcher.stop(0);
      } finally {
        if (isTemporary) await sender?.stop();
        clearInterval(keepAlive);
      }
    }
    if (isOwner && isTemporary && !this.#isStopping) {
      await inTime(workWatch.lookDrained(), waitingClock, CHECKED_WITHIN_MS);
    }
    const { done, retry, dead } = dispatcher.outcomes;
    return {
      done: done - before.done,
      retried: retry - before.retry,
      dead: dead - before.dead,
      contactEvents: (sender?.sent ?? 0) - before.sent,
      drained,
    };
  }

  /** Where no process runs handlers all the time, none prunes all the time either: then a drain does. */
  async #untilIdle(
    dispatcher: Dispatcher,
    timeoutMs: number,
    { ending, prunes }: { ending: AbortController; prunes: boolean },
  ): Promise<boolean> {
    const { sender, pruner, clock } = this.#deps;
    const { signal } = ending;
    let isIdle = false;
    const idle = workOff(dispatcher, sender, signal).then(() => (isIdle = !signal.aborted));
    const pruned = prunes ? pruner.pruneUntil(signal) : undefined;
    const timer = clock.setTimer(() => ending.abort(), timeoutMs);
    try {
      await untilAborted(Promise.all([idle, pruned]), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      timer.cancel();
      ending.abort();
      if (pruned !== undefined) await inTime(pruned, waitingClock, PRUNED_WITHIN_MS);
    }
    return isIdle;
  }
}

/** A handler may record contact events while others are sent. */
async function workOff(dispatcher: Dispatcher, sender: OutboxSender | undefined, signal: AbortSignal): Promise<void> {
  await dispatcher.readRequested();
  dispatcher.wake();
  sender?.poll();
  await dispatcher.untilIdle(signal);
  if (sender === undefined) return;
  while (!signal.aborted && !(dispatcher.isIdle && sender.isIdle)) {
    await dispatcher.untilIdle(signal);
    await sender.untilIdle();
  }
}
