import { SECOND } from "../base/duration.js";
import type { Presence } from "./loop-share.js";

/** Work is left undone once no view has asked for it for so long. */
const WANTED_FOR_MS = 10 * SECOND;
/** Views whose work is not done; each holds the rows of a page, and a few bodies. */
const MAX_VIEWS = 50;
/** Few, since their bodies are held. */
const ITEMS_TOGETHER = 4;

/** What the work goes by. */
export interface BegunWorkTools {
  /** In milliseconds, from any moment on. */
  now: () => number;
  /** True once nothing must run any more. */
  isOver: () => boolean;
}

/** Does the work on some items; rejects once they are not wanted any more. */
type WorkOn<Item> = (items: readonly Item[], wanted: Presence) => Promise<unknown>;

/** Work that views begin, and that goes on for the next ones when they have been answered. No item is begun twice. */
export class BegunWork<Item> {
  readonly #tools: BegunWorkTools;
  readonly #parts = new Map<string, BegunPart>();
  #views = 0;

  constructor(tools: BegunWorkTools) {
    this.#tools = tools;
  }

  /**
   * Resolves once the items, by their keys, are done or given up; at once for those that are not begun, since too many
   * views wait. Rejects as `work` does.
   */
  async ask(items: ReadonlyMap<string, Item>, work: WorkOn<Item>): Promise<void> {
    const left = [...items].filter(([key]) => !this.#parts.has(key));
    if (left.length > 0 && this.#views < MAX_VIEWS) void this.#begin(left, work);
    const parts = new Set([...items.keys()].flatMap((key) => this.#parts.get(key) ?? []));
    for (const part of parts) part.want();
    await Promise.all([...parts].map(({ done }) => done));
  }

  async #begin(items: readonly (readonly [string, Item])[], work: WorkOn<Item>): Promise<void> {
    this.#views += 1;
    let last: Promise<unknown> = Promise.resolve();
    for (let at = 0; at < items.length; at += ITEMS_TOGETHER) {
      const some = items.slice(at, at + ITEMS_TOGETHER);
      const workedOn = some.map(([, item]) => item);
      const part = new BegunPart(this.#tools);
      const run = () => part.run(() => work(workedOn, part));
      part.done = last.then(run).finally(() => {
        for (const [key] of some) this.#parts.delete(key);
      });
      for (const [key] of some) this.#parts.set(key, part);
      // Those who wait get the error.
      last = part.done.catch(() => undefined);
    }
    await last;
    this.#views -= 1;
  }
}

/** Some items of a view. */
class BegunPart implements Presence {
  readonly keepsAlive = false;
  readonly #tools: BegunWorkTools;
  #wantedAt: number;
  done: Promise<void> = Promise.resolve();

  constructor(tools: BegunWorkTools) {
    this.#tools = tools;
    this.#wantedAt = tools.now();
  }

  want(): void {
    this.#wantedAt = this.#tools.now();
  }

  get aborted(): boolean {
    return this.#tools.isOver() || this.#tools.now() - this.#wantedAt >= WANTED_FOR_MS;
  }

  async run(work: () => Promise<unknown>): Promise<void> {
    if (this.aborted) return;
    try {
      await work();
    } catch (error) {
      if (!this.aborted) throw error;
    }
  }
}
