import { type Backoff, backoffDelay } from "../../base/retry-wait.js";
import type { Clock, Timer } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";

const PROBES: Backoff = { initialMs: 0.5 * SECOND, factor: 1.6, maxMs: 10 * SECOND, jitter: 0.1 };

export interface HeldQueueDeps<Item> {
  /** Delivers one; false if the app still does not answer. */
  deliver(item: Item, target: string): Promise<boolean>;
  clock: Clock;
}

/** What waits for one app. */
interface Line<Item> {
  items: Item[];
  failures: number;
  isRunning: boolean;
  timer: Timer | undefined;
}

/**
 * Deliveries that wait for an app, one queue per target, in the order of arrival. The first of a queue is tried again
 * with backoff. Once the app answers, the others follow at once.
 */
export class HeldQueue<Item> {
  readonly #deps: HeldQueueDeps<Item>;
  readonly #lines = new Map<string, Line<Item>>();
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(deps: HeldQueueDeps<Item>) {
    this.#deps = deps;
  }

  get size(): number {
    return [...this.#lines.values()].reduce((sum, { items }) => sum + items.length, 0);
  }

  /** True while something waits for the target: later deliveries must wait behind it. */
  waitsFor(target: string): boolean {
    return this.#lines.has(target);
  }

  has(isIt: (item: Item) => boolean): boolean {
    return [...this.#lines.values()].some(({ items }) => items.some(isIt));
  }

  add(item: Item, target: string): void {
    const line = this.#lines.get(target) ?? { items: [], failures: 1, isRunning: false, timer: undefined };
    line.items.push(item);
    this.#lines.set(target, line);
    this.#arm(line, target);
  }

  /** Removes deliveries that are no longer needed. */
  remove(isGone: (item: Item, target: string) => boolean): void {
    for (const [target, line] of this.#lines) {
      line.items = line.items.filter((item) => !isGone(item, target));
      if (line.items.length > 0 || line.isRunning) continue;
      line.timer?.cancel();
      this.#lines.delete(target);
    }
  }

  /** Tries all queues at once. */
  tryNow(): void {
    for (const [target, line] of this.#lines) this.#start(line, target);
  }

  /** Stops sending. Waiting deliveries stay on disk, marked as held. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#lines.values()) timer?.cancel();
  }

  /** Resolves once no delivery is being sent; call it after {@link close}. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  #arm(line: Line<Item>, target: string): void {
    if (this.#closed || line.isRunning || line.timer !== undefined) return;
    const wait = backoffDelay(PROBES, line.failures, Math.random);
    line.timer = this.#deps.clock.setTimer(() => {
      line.timer = undefined;
      this.#start(line, target);
    }, wait);
  }

  #start(line: Line<Item>, target: string): void {
    const running = this.#run(line, target).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #run(line: Line<Item>, target: string): Promise<void> {
    if (line.isRunning) return;
    line.isRunning = true;
    line.timer?.cancel();
    line.timer = undefined;
    try {
      for (let first = line.items[0]; first !== undefined && !this.#closed; first = line.items[0]) {
        if (!(await this.#deps.deliver(first, target))) {
          line.failures += 1;
          break;
        }
        line.failures = 1;
        // Removed by identity, since it may have been removed meanwhile.
        line.items = line.items.filter((item) => item !== first);
      }
    } finally {
      line.isRunning = false;
    }
    if (line.items.length === 0) this.#lines.delete(target);
    else this.#arm(line, target);
  }
}
