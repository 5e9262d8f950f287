import { hasEnded } from "../../store/state-words.js";
import { runsAgain } from "../../operator/states.js";
import type { Clock, Timer } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { setNewest } from "../../base/set-newest.js";
import { outcomeOf } from "../../capture/model/answer.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { attemptEventId } from "../../capture/model/sent-event-id.js";
import type { EventDetail, EventView, HandlerView } from "../../store/inbox-view.js";
import { eventIdOf } from "../../protocol/inbox-id.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { DevEvent, Report } from "../lines/dev-event.js";

/** Most events that are followed at once, and whose work is known; beyond it the oldest is left. */
const MAX_FOLLOWED = 1_000;
const POLL_INTERVAL_MS = 250;
/** A handler that runs for long, or waits for its next attempt or a retry by hand, is polled less often. */
const SLOW_POLL_INTERVAL_MS = SECOND;
/** Of many events each is polled less often still: at most a hundred are read in a second. */
const SLOW_POLL_INTERVAL_MS_PER_EVENT = SECOND / 100;

/** A receiver's file that another process writes can be busy for a moment. */
const MAX_UNREADABLE = 20;

/** Time between the first looks at the events of captures that an earlier run kept. */
const START_STEP_MS = 4;

/** A failure of a handler. A retry counts its attempts from the start; the time tells apart its failures. */
interface ReportedFailure {
  state: string;
  attempts: number;
  /** When it runs again, or since when it does not, ISO 8601. */
  at: string;
}

interface Followed {
  /** Undefined for an event that was only named by its id: its failures are shown and not reported. */
  capture: CaptureSummary | undefined;
  eventId: string;
  /** What was last reported of each handler. */
  readonly reported: Map<string, ReportedFailure>;
  /** Failures that the first look finds are of an earlier time, and are not reported. */
  isOld: boolean;
  polls: number;
  unreadable: number;
  nextPollAt: number;
}

export interface WorkFollowerOptions {
  inbox: Pick<InboxOperator, "getEvent">;
  clock: Clock;
  report: Report;
  /** Receives the work on an event when it is first known and whenever it changes. */
  changed: (work: EventView) => void;
}

/**
 * Follows in a receiver's inbox what its handlers make of the deliveries that the app took: knows each event's work,
 * and reports failures.
 */
export class WorkFollower {
  readonly #options: WorkFollowerOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #known = new Map<string, EventView>();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: WorkFollowerOptions) {
    this.#options = options;
  }

  /** The work on each event that was looked at. */
  get known(): EventView[] {
    return [...this.#known.values()];
  }

  /** Takes the dev server's events, and follows those of deliveries that are in the inbox now. */
  see(event: DevEvent): void {
    if (event.kind !== "forwarded" && event.kind !== "replayed") return;
    const { capture, attempt } = event;
    const outcome = outcomeOf(attempt.headers);
    const eventId = attemptEventId(attempt, capture.eventId ?? capture.lastEventId);
    if (eventId === null) return;
    if (outcome === "accepted" || outcome === "parked") this.#follow({ capture, eventId });
    else if (outcome === "duplicate" && !this.#isFollowedOrKnown(eventId)) {
      this.#follow({ capture, eventId, isOld: true });
    }
  }

  /** Follows events of captures that were taken in an earlier run, newest first. */
  catchUp(captures: readonly CaptureSummary[]): void {
    // The newest is looked at first, and kept longest.
    for (const [index, capture] of [...captures.slice(0, MAX_FOLLOWED).entries()].toReversed()) {
      const { lastEventId, earlierEventIds, outcome } = capture;
      const waitMs = index * START_STEP_MS;
      for (const eventId of earlierEventIds) this.#follow({ capture, eventId, isOld: true, waitMs });
      if (lastEventId === null || outcome === null) continue;
      this.#follow({ capture, eventId: lastEventId, isOld: true, waitMs });
    }
  }

  /** Looks at the event soon and then follows it, since it is shown or its work was changed. */
  follow(eventId: string): void {
    const followed = this.#followed.get(eventId);
    if (followed === undefined) this.#follow({ capture: undefined, eventId });
    else Object.assign(followed, { polls: 0, nextPollAt: this.#options.clock.now() });
  }

  /** Takes an event as it was just read, and follows it. */
  learn(event: EventDetail): EventView {
    this.follow(event.id);
    return this.#learn(event);
  }

  /** An event may be followed and not looked at yet: its first failure is still to be reported. */
  #isFollowedOrKnown(eventId: string): boolean {
    return this.#followed.has(eventId) || this.#known.has(eventId);
  }

  get #slowIntervalMs(): number {
    return Math.max(SLOW_POLL_INTERVAL_MS, this.#followed.size * SLOW_POLL_INTERVAL_MS_PER_EVENT);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #follow(found: Pick<Followed, "capture" | "eventId"> & { isOld?: boolean; waitMs?: number }): void {
    const { capture, eventId, isOld = false, waitMs = 0 } = found;
    const nextPollAt = this.#options.clock.now() + waitMs;
    const followed = {
      capture,
      eventId,
      reported: new Map<string, ReportedFailure>(),
      isOld,
      polls: 0,
      unreadable: 0,
      nextPollAt,
    };
    setNewest(this.#followed, eventId, followed, MAX_FOLLOWED);
    this.#arm();
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
      const goesOn = await this.#poll(followed, now);
      if (!goesOn && this.#followed.get(followed.eventId) === followed) this.#followed.delete(followed.eventId);
    }
  }

  /** Returns whether more can happen to the event. */
  async #poll(followed: Followed, now: number): Promise<boolean> {
    const event = await this.#options.inbox.getEvent(followed.eventId).catch(() => undefined);
    followed.polls += 1;
    followed.nextPollAt = now + Math.min(followed.polls * POLL_INTERVAL_MS, this.#slowIntervalMs);
    if (event === undefined) {
      followed.unreadable += 1;
      return followed.unreadable < MAX_UNREADABLE;
    }
    for (const work of event.handlers) this.#reportFailure(followed, event.id, work);
    const { capture, isOld } = followed;
    // An event without a handler is followed no longer, so this is said once.
    if (event.handlers.length === 0 && capture !== undefined && !isOld) {
      this.#options.report({ kind: "no_handler", capture, eventId: event.id });
    }
    followed.isOld = false;
    this.#learn(event);
    const dueAt = Math.min(...event.handlers.flatMap((work) => (work.dueAt === null ? [] : [Date.parse(work.dueAt)])));
    // At the time of a run, and not later.
    if (dueAt > now) followed.nextPollAt = Math.min(followed.nextPollAt, dueAt);
    // Dead and parked work goes on when it is retried from anywhere.
    return event.handlers.some(({ state }) => !hasEnded(state));
  }

  /** Keeps what is known of the event's work, and tells of it if it changed. */
  #learn(event: EventDetail): EventView {
    const eventId = eventIdOf(event.id);
    const before = this.#known.get(eventId);
    const { body: _, seq: __, ...work } = event;
    if (JSON.stringify(before) !== JSON.stringify(work)) {
      setNewest(this.#known, eventId, work, MAX_FOLLOWED);
      this.#options.changed(work);
    }
    return work;
  }

  #reportFailure({ capture, reported, isOld }: Followed, eventId: string, work: HandlerView): void {
    const { handler, state, attempts, maxAttempts, reason, error, dueAt, settledAt } = work;
    const hasFailed = state === "dead" || state === "parked" || runsAgain(work);
    const at = dueAt ?? settledAt ?? "";
    const before = reported.get(handler);
    // Work that is run now is due earlier, and has not failed again.
    const isKnown = before?.state === state && before.attempts === attempts && at <= before.at;
    if (!hasFailed || isKnown) return;
    reported.set(handler, { state, attempts, at });
    if (isOld || capture === undefined) return;
    const failed = { handler, state, attempts, maxAttempts, reason, error, nextAt: dueAt };
    this.#options.report({ kind: "handler_failed", capture, eventId, ...failed });
  }
}
