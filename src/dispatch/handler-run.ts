import type { Expiring } from "../base/deadlines.js";
import { PigeonholeError, isPigeonholeError } from "../base/error.js";
import type { AnyEvent } from "../protocol/event.js";
import type { Lease } from "../store/work.js";
import type { RunContext } from "./context.js";
import type { RegisteredHandler } from "./handler.js";

/** How a run ended. `committed`: the work was settled inside `ctx.commit`. */
export type RunEnd =
  | { kind: "done" }
  | { kind: "committed" }
  /** The lease ended while the handler ran; its new holder settles the work. */
  | { kind: "lost" }
  /** The store failed under it, for a time: the handler has not failed, and its work runs again. */
  | { kind: "interrupted"; error: PigeonholeError }
  | { kind: "failed"; error: unknown }
  /** The receiver stopped before the handler was done. */
  | { kind: "stopped"; error: Error };

/** Ends of a run that did not do its work. */
export type Unfinished = Extract<RunEnd, { kind: "failed" | "stopped" }>;

const LOST: RunEnd = { kind: "lost" };
const DONE: RunEnd = { kind: "done" };
const COMMITTED: RunEnd = { kind: "committed" };

/** A run of a handler until its end, its timeout or a stop: the first of them decides. */
export class HandlerRun implements Expiring {
  /** Never rejects. */
  readonly ended: Promise<RunEnd>;
  readonly #handler: RegisteredHandler;
  readonly #context: RunContext;
  #resolve: ((end: RunEnd | Promise<RunEnd>) => void) | undefined;

  /** Calls the handler. Nothing here holds the event longer than the handler does. */
  constructor(handler: RegisteredHandler, event: AnyEvent, context: RunContext) {
    this.#handler = handler;
    this.#context = context;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    void this.#call(event);
  }

  expire(): void {
    const { name, timeoutMs } = this.#handler;
    const text = `Handler "${name}" took longer than its timeoutMs of ${timeoutMs}.`;
    const error = new PigeonholeError("handler_timeout", text);
    this.#context.abort(error);
    this.#endAs({ kind: "failed", error });
  }

  stop(reason: Error): void {
    this.#context.abort(reason);
    const isLost = isPigeonholeError(reason, "lease_lost");
    this.#endAs(isLost ? { kind: "interrupted", error: reason } : { kind: "stopped", error: reason });
  }

  /** The id of its event, as listed. */
  get eventId(): string {
    return this.#context.eventId;
  }

  isUnder(lease: Lease): boolean {
    return this.#context.isUnder(lease);
  }

  /** Its lease has ended before it. */
  lose(): void {
    const { name } = this.#handler;
    const text = `The lease of handler "${name}" has ended before its run, so another run does its work.`;
    this.#context.abort(new PigeonholeError("lease_lost", text));
    this.#endAs(LOST);
  }

  async #call(event: AnyEvent): Promise<void> {
    const context = this.#context;
    try {
      await this.#handler.run(event, context);
      if (context.pendingCommit !== undefined) await context.pendingCommit;
    } catch (error) {
      this.#endAs({ kind: "failed", error });
      return;
    }
    this.#resolve?.(context.pendingCommit === undefined ? DONE : COMMITTED);
  }

  #endAs(end: RunEnd): void {
    const context = this.#context;
    const { pendingCommit } = context;
    this.#resolve?.(
      pendingCommit === undefined ? orInterrupted(end, context) : endAfterCommit(pendingCommit, end, context),
    );
  }
}

/** Whatever the handler made of the failure of its store, such as another error, it is not the handler's own. */
function orInterrupted(end: RunEnd, { storeFailure }: RunContext): RunEnd {
  return end.kind === "failed" && storeFailure !== undefined ? { kind: "interrupted", error: storeFailure } : end;
}

/** A commit that had started when the handler failed decides: what is committed is done, also after a later error. */
async function endAfterCommit(commit: Promise<void>, end: RunEnd, context: RunContext): Promise<RunEnd> {
  try {
    await commit;
    return COMMITTED;
  } catch (commitError) {
    return isPigeonholeError(commitError, "lease_lost") ? LOST : orInterrupted(end, context);
  }
}
