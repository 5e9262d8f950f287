import { errorFields } from "../base/error-fields.js";
import { isPigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";
import type { Store } from "../store/store.js";
import type { HandlerRegistry } from "./registry.js";
import type { RunRecord } from "./run-record.js";

/** The result of a check: this process runs the handlers from now on, or work of a dead process is pending again. */
export type Recovery = "ownership" | "recovered_work" | undefined;

interface HandlerOwnershipDeps {
  store: Store<unknown>;
  record: RunRecord;
  logger: Logger;
}

/** Which process runs the handlers of the store: one at a time, and another one when that has died. */
export class HandlerOwnership {
  readonly #deps: HandlerOwnershipDeps;
  #isOwner = false;
  #hasReportedOther = false;

  constructor(deps: HandlerOwnershipDeps) {
    this.#deps = deps;
  }

  get isOwner(): boolean {
    return this.#isOwner;
  }

  /**
   * Makes the work of dead processes pending, where this process may. `now` was read before the last renewal of its own
   * leases.
   */
  async recover(now: number): Promise<Recovery> {
    const { store, record, logger } = this.#deps;
    const { owner, recovered, parked } = await store.recover(now);
    record.crashLoops += parked;
    if (recovered > 0 || parked > 0) logger.warn({ recovered, parked }, "recovered_work_of_a_dead_process");
    if (!owner) {
      if (!this.#hasReportedOther) logger.warn({}, "another_process_runs_handlers_on_this_store");
      this.#hasReportedOther = true;
      return undefined;
    }
    if (this.#isOwner) return recovered > 0 ? "recovered_work" : undefined;
    this.#isOwner = true;
    return "ownership";
  }
}

/** Keeps each handler's retry policy in the store, where it is shown with its work. Never rejects: nothing needs it. */
export async function keepPolicies(deps: {
  store: Store<unknown>;
  registry: HandlerRegistry;
  logger: Logger;
}): Promise<void> {
  const { store, registry, logger } = deps;
  try {
    await store.keepPolicies(registry.all.map(({ name, retry: { maxAttempts } }) => ({ handler: name, maxAttempts })));
  } catch (error) {
    if (isPigeonholeError(error, "stopped")) return;
    logger.warn(errorFields(error, true), "policies_not_kept");
  }
}
