import { PigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";
import type { Client } from "../client/call-types.js";
import type { AnyEvent } from "../protocol/event.js";
import type { Lease } from "../store/work.js";
import type { BatchContext, EventContext } from "./batch-handler.js";
import type { ReadyWork } from "./lease-window.js";
import { type ContextDeps, RunContext } from "./run-context.js";
import type { RunSpan } from "./run-observer.js";
import type { RunEnd } from "./settlement-of.js";

/** The work of a batch. */
export type BatchWork = readonly [ReadyWork, ...ReadyWork[]];

/** One event of a batch. */
interface Member extends ReadyWork {
  readonly context: RunContext;
  /** Set when the handler has failed this event alone. */
  failure?: { error: unknown };
}

/** The run of a handler on a batch. Each event has a context of its own, which records and is settled by itself. */
export class BatchRun implements BatchContext<unknown> {
  readonly #members: readonly Member[];
  /** What the batch does as one, the context of its first event does. */
  readonly first: RunContext;
  readonly #deps: ContextDeps;
  #isOver = false;
  #log: Logger | undefined;

  constructor([first, ...others]: BatchWork, span: RunSpan | undefined, deps: ContextDeps) {
    const memberOf = (ready: ReadyWork): Member => ({ ...ready, context: new RunContext(ready, span, deps) });
    const member = memberOf(first);
    this.#members = [member, ...others.map(memberOf)];
    this.first = member.context;
    this.#deps = deps;
  }

  get signal(): AbortSignal {
    return this.first.signal;
  }

  get api(): Client {
    return this.first.api;
  }

  get log(): Logger {
    this.#log ??= this.#deps.logger.child({ handler: this.first.handler, events: this.#members.length });
    return this.#log;
  }

  get of(): (event: AnyEvent) => EventContext {
    return (event) => this.#memberOf(event).context;
  }

  get fail(): (event: AnyEvent, error: unknown) => void {
    return (event, error) => {
      if (this.#isOver) throw new PigeonholeError("run_ended", "ctx.fail was called after the run had ended.");
      if (this.first.pendingCommit !== undefined) {
        throw new PigeonholeError("invalid_argument", "Call ctx.fail before ctx.commit, which marks the others done.");
      }
      this.#memberOf(event).failure = { error };
    };
  }

  get commit(): (fn: (tx: unknown) => unknown) => Promise<void> {
    return (fn) => {
      const good = this.#members.flatMap(({ context, failure }) => (failure === undefined ? context : []));
      const committed = good.length === 0 ? Promise.resolve() : this.first.commitAll(fn, good);
      // What they would record from now on would not be stored.
      for (const { context } of this.#members) context.pendingCommit ??= committed;
      return committed;
    };
  }

  get eventIds(): string[] {
    return this.#members.map(({ context }) => context.eventId);
  }

  isUnder(lease: Lease): boolean {
    return this.#members.some(({ context }) => context.isUnder(lease));
  }

  /** The run is over: how it has ended for each event. */
  end(end: RunEnd): (Omit<Member, "failure"> & { end: RunEnd })[] {
    this.#isOver = true;
    const isOfHandler = end.kind === "done" || end.kind === "committed" || end.kind === "failed";
    return this.#members.map(({ failure, ...member }) => ({
      ...member,
      end: isOfHandler && failure !== undefined ? { kind: "failed", ...failure } : end,
    }));
  }

  #memberOf(event: AnyEvent): Member {
    const member = this.#members.find((each) => each.event === event);
    if (member !== undefined) return member;
    throw new PigeonholeError("invalid_argument", "The event is not in this batch. Pass the object itself, no copy.");
  }
}
