import type { Clock } from "../base/clock.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import type { HandlerRegistry } from "../dispatch/registry.js";
import type { Alarms } from "./alarms.js";
import { Reminder } from "./reminder.js";
import type { StoreFigures } from "./store-counter.js";
import { REMIND_MS } from "./work-alarms.js";

export interface MissingHandlersDeps {
  registry: HandlerRegistry;
  dispatcher: Dispatcher;
  alarms: Alarms;
  clock: Clock;
}

/** Raises an alarm for work whose handler is not registered in the process that runs the handlers. */
export class MissingHandlers {
  readonly #deps: MissingHandlersDeps;
  readonly #reminder: Reminder;
  readonly #drainReminder: Reminder;
  /** Handlers that had work at the last check and are not registered. */
  #lastMissing: ReadonlySet<string> = new Set();

  constructor(deps: MissingHandlersDeps) {
    this.#deps = deps;
    this.#reminder = new Reminder(deps.clock, REMIND_MS);
    this.#drainReminder = new Reminder(deps.clock, REMIND_MS);
  }

  /** One check is not enough: during a deploy the next process, which has the handler, is about to take over. */
  sawFigures(figures: StoreFigures): void {
    const missing = this.#deps.dispatcher.ownership.isOwner ? this.#findMissing(figures) : [];
    const handlers = missing.filter((name) => this.#lastMissing.has(name));
    this.#lastMissing = new Set(missing);
    this.#raise(handlers, figures, this.#reminder);
  }

  /** Where handlers run only in drains, no later check finds what one has left. */
  sawDrained(figures: StoreFigures): void {
    this.#raise(this.#findMissing(figures), figures, this.#drainReminder);
  }

  #findMissing({ pendingByHandler }: StoreFigures): string[] {
    const registered = new Set(this.#deps.registry.all.map(({ name }) => name));
    return Object.keys(pendingByHandler).filter((name) => !registered.has(name));
  }

  #raise(handlers: readonly string[], { pendingByHandler }: StoreFigures, reminder: Reminder): void {
    if (!reminder.isDue(handlers.length)) return;
    const pending = handlers.reduce((sum, name) => sum + (pendingByHandler[name] ?? 0), 0);
    this.#deps.alarms.raise({ kind: "handler_missing", handlers, pending });
  }
}
