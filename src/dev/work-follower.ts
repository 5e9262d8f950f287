import { type Clock, type Timer } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { outcomeOf } from "../capture/model/answer.js";
import type { CaptureSummary } from "../capture/model/capture.js";
import type { HandlerView } from "../store/inbox-view.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { Cleanup } from "./cleanup.js";
import type { DevEvent, Report } from "./dev-event.js";

/** Most events that are followed at once; beyond it the oldest is left. */
const MAX_FOLLOWED = 1_000;
const POLL_INTERVAL_MS = 250;
/** A handler that runs for long, or waits for its next attempt, is polled less often. */
const MAX_POLL_INTERVAL_MS = 10 * SECOND;

/** A receiver's file that another process writes can be busy for a moment. */
const MAX_UNREADABLE = 20;

interface Followed {
  capture: CaptureSummary;
  eventId: string;
  /** What was reported, as `handler state attempts`. */
  readonly reported: Set<string>;
  polls: number;
  unreadable: number;
  nextPollAt: number;
}

export interface WorkFollowerOptions {
  inbox: Pick<InboxOperator, "getEvent">;
  clock: Clock;
  report: Report;
}

/** Follows in a receiver's inbox what its handlers make of the deliveries that the app took, and reports failures. */
export class WorkFollower {
  readonly #options: WorkFollowerOptions;
  readonly #followed = new Map<string, Followed>();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: WorkFollowerOptions) {
    this.#options = options;
  }

  /** Takes the dev server's events, and follows those of deliveries that are in the inbox now. */
  see(event: DevEvent): void {
    if (event.kind !== "forwarded" && event.kind !== "delivered" && event.kind !== "replayed") return;
    const { capture, attempt } = event;
    const outcome = outcomeOf(attempt.headers);
    const eventId = attempt.eventId ?? capture.eventId;
    if (eventId === null || (outcome !== "accepted" && outcome !== "parked")) return;
    const [oldest] = this.#followed.keys();
    if (this.#followed.size >= MAX_FOLLOWED && oldest !== undefined) this.#followed.delete(oldest);
    const nextPollAt = this.#options.clock.now();
    this.#followed.set(eventId, { capture, eventId, reported: new Set(), polls: 0, unreadable: 0, nextPollAt });
    this.#arm();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #arm(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#followed.size === 0) return;
    this.#timer = this.#options.clock.setTimer(() => {
      void this.#pollDue().finally(() => {
        this.#timer = undefined;
        this.#arm();
      });
    }, POLL_INTERVAL_MS);
  }

  async #pollDue(): Promise<void> {
    const now = this.#options.clock.now();
    for (const followed of [...this.#followed.values()].filter(({ nextPollAt }) => nextPollAt <= now)) {
      if (this.#isClosed) return;
      if (!(await this.#poll(followed, now))) this.#followed.delete(followed.eventId);
    }
  }

  /** Returns whether more can happen to the event. */
  async #poll(followed: Followed, now: number): Promise<boolean> {
    const event = await this.#options.inbox.getEvent(followed.eventId).catch(() => undefined);
    followed.polls += 1;
    followed.nextPollAt = now + Math.min(followed.polls * POLL_INTERVAL_MS, MAX_POLL_INTERVAL_MS);
    if (event === undefined) {
      followed.unreadable += 1;
      return followed.unreadable < MAX_UNREADABLE;
    }
    for (const work of event.handlers) this.#reportFailure(followed, work);
    return event.handlers.some(({ state }) => state === "leased" || state === "pending");
  }

  #reportFailure({ capture, eventId, reported }: Followed, work: HandlerView): void {
    const { handler, state, attempts, reason = null, error = null, dueAt } = work;
    const hasFailed = state === "dead" || state === "parked" || (state === "pending" && attempts > 0);
    const mark = `${handler} ${state} ${attempts}`;
    if (!hasFailed || reported.has(mark)) return;
    reported.add(mark);
    const nextAt = state === "pending" && dueAt !== undefined ? new Date(dueAt).toISOString() : null;
    this.#options.report({ kind: "handler_failed", capture, eventId, handler, state, attempts, reason, error, nextAt });
  }
}

/** A report whose deliveries are also followed in the inbox, if there is one. */
export function followHandlers({
  inbox,
  cleanup,
  ...rest
}: Omit<WorkFollowerOptions, "inbox"> & { inbox: InboxOperator | undefined; cleanup: Cleanup }): Report {
  if (inbox === undefined) return rest.report;
  const follower = new WorkFollower({ inbox, ...rest });
  cleanup.add(() => follower.close());
  return (event) => {
    rest.report(event);
    follower.see(event);
  };
}
