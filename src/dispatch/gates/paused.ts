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
  /** When each handler that is paused was last named, in milliseconds since 1970. */
  readonly #namedAt = new Map<string, number>();

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
    const known = this.#paused;
    if (names === undefined || names.length !== known.size || names.some((name) => !known.has(name))) {
      const paused = await this.#deps.store.listPaused();
      this.#paused = new Map(paused.map((each) => [each.handler, each]));
    }
    const { clock, logger, registry } = this.#deps;
    const now = clock.now();
    for (const { name } of registry.all) {
      const paused = this.#paused.get(name);
      // A time in the future is from a clock that has since been set back.
      const isNamed = Math.abs(now - (this.#namedAt.get(name) ?? -Infinity)) < REMIND_MS;
      if (paused === undefined) {
        if (this.#namedAt.delete(name)) logger.info({ handler: name }, "handler_resumed");
      } else if (!isNamed) {
        logger.warn({ ...paused }, "handler_paused");
        this.#namedAt.set(name, now);
      }
    }
  }
}
