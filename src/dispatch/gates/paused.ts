import { HOUR } from "../../base/duration.js";
import type { PausedHandler } from "../../store/paused-handlers.js";
import type { Gate, GatedWork } from "../gate.js";
import type { StoreDeps } from "../registry.js";

/** A handler that stays paused is named again after this: its work waits, and nothing else shows it. */
const REMIND_MS = 6 * HOUR;

/** A person has paused the handler, in all processes. */
export class PausedGate implements Gate {
  readonly name = "paused";
  readonly keeps = "in_store";
  readonly #deps: StoreDeps;
  #paused: ReadonlyMap<string, PausedHandler> = new Map();
  #remindedAt = 0;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  allows({ handler }: GatedWork): boolean {
    return !this.#paused.has(handler);
  }

  /**
   * Learns which handlers are paused; `names` are those that are, if they are known. Rejects as the store does.
   */
  async check(names?: readonly string[]): Promise<void> {
    const before = this.#paused;
    if (names === undefined || names.length !== before.size || names.some((name) => !before.has(name))) {
      const paused = await this.#deps.store.listPaused();
      this.#paused = new Map(paused.map((each) => [each.handler, each]));
      this.#logChanges(before);
    }
    this.#remind();
  }

  #logChanges(before: ReadonlyMap<string, PausedHandler>): void {
    const { clock, logger } = this.#deps;
    for (const each of this.#here(this.#paused)) {
      if (before.has(each.handler)) continue;
      logger.warn({ ...each }, "handler_paused");
      this.#remindedAt = clock.now();
    }
    for (const { handler } of this.#here(before)) {
      if (!this.#paused.has(handler)) logger.info({ handler }, "handler_resumed");
    }
  }

  #remind(): void {
    const here = this.#here(this.#paused);
    const now = this.#deps.clock.now();
    // A time in the future is from a clock that has since been set back.
    if (here.length === 0 || (now >= this.#remindedAt && now - this.#remindedAt < REMIND_MS)) return;
    this.#remindedAt = now;
    for (const each of here) this.#deps.logger.warn({ ...each }, "handler_paused");
  }

  /** Those that this process has. */
  #here(paused: ReadonlyMap<string, PausedHandler>): PausedHandler[] {
    return this.#deps.registry.all.flatMap(({ name }) => paused.get(name) ?? []);
  }
}
