import { type Clock, type Timer } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import type { OutcomeKind } from "../protocol/outcome.js";
import type { ParseFailure } from "../protocol/parse-signature.js";
import type { SessionOfServer } from "../store/store.js";
import { type RecentAlarm, RecentAlarms } from "./recent-alarms.js";

/** A problem that needs an operator. Never holds a secret, a signature or a body. */
export type Alarm =
  /** Readable signatures that no secret made, in a row: the secret here is probably no longer the endpoint's. */
  | { kind: "signature_mismatches"; inARow: number }
  /**
   * A signature header whose layout is not the assumed one, or a timestamp header without it (`missing_signature`).
   * `shape` has names, lengths and kinds of characters, never a value.
   */
  | { kind: "signature_unreadable"; reason: ParseFailure["reason"]; shape: string }
  /** Only an older secret of the list fits: the service has not rotated yet, or the list is in the wrong order. */
  | { kind: "older_secret_matched"; secretIndex: number }
  /**
   * The function given as `secrets` is `late` or has `failed`, so a signature that no known secret fits cannot be
   * judged.
   */
  | { kind: "secrets_unavailable"; reason: "late" | "failed" }
  /**
   * Genuine signatures outside the time window: one of the two clocks is off by this much. Or this machine's clock
   * moved forward by this much at once, or while the receiver was stopped: nothing is dropped for its age until a
   * delivery or the API confirms the time.
   */
  | { kind: "clock_skew"; skewSeconds: number }
  /**
   * An event was delivered again under a known id with other bytes. They are kept in addition to the first ones while
   * those are parked and were never handled.
   */
  | { kind: "other_bytes"; eventId: string }
  /** Answers other than 2xx in a row; the service switches the endpoint off at `disablesAt`. */
  | { kind: "failures_in_a_row"; inARow: number; disablesAt: number }
  /** A request with a signature got an answer after which the service does not send again: it may be an event lost. */
  | { kind: "final_answer"; outcome: OutcomeKind; status: number }
  /** Another parser reads the body before the receiver can. */
  | { kind: "body_consumed" }
  /** Nothing was accepted for this long. */
  | { kind: "silence"; sinceMs: number }
  /** Work that handlers have given up, as far as it was neither retried nor discarded. */
  | { kind: "work_dead"; dead: number }
  /**
   * `parked` pieces of work wait for a retry by a person: what was delivered does not fit a schema, or nothing takes
   * its type. `reason` is that of the newest, `types` are its event types, of the newest 100 events.
   */
  | { kind: "work_parked"; reason: string; types: readonly string[]; parked: number }
  /**
   * This process has parked so many pieces of work since its start, because a process died in each of them several
   * times.
   */
  | { kind: "crash_loop"; parked: number }
  /**
   * Work has been due for `forMs` milliseconds, and no handler has started it; `pending` pieces are not done in all.
   */
  | { kind: "backlog"; forMs: number; pending: number }
  /** Work waits for handlers that the process that runs the handlers of the file does not have. */
  | { kind: "handler_missing"; handlers: readonly string[]; pending: number }
  /**
   * Contact events that the service refused or that grew too old, as far as they were neither retried nor discarded.
   */
  | { kind: "contact_events_dead"; dead: number }
  /** The oldest of `pending` contact events has not been sent for `forMs` milliseconds. */
  | { kind: "contact_events_stuck"; forMs: number; pending: number }
  /**
   * The store did not take a delivery in time: it was answered 503, and so is each one that arrives before the waiting
   * ones are stored. `waiting` counts them.
   */
  | { kind: "deliveries_overdue"; waiting: number }
  /** The store took nothing. */
  | { kind: "store_unavailable"; code: string; message: string }
  /** A reader has kept the database's WAL from being emptied for this long; it grows with every delivery. */
  | { kind: "wal_blocked"; walBytes: number; forMs: number }
  /** SQLite: the WAL cannot be moved into the database file, for the reason in `message`, and grows. */
  | { kind: "checkpoint_failed"; walBytes: number; code: string; message: string }
  /**
   * PostgreSQL: the disk of bodies that ended `lateMs` milliseconds ago cannot be given back. With `in_use`, `sessions`
   * read them, or are in transactions that see an earlier state; with `slow`, it takes too long to look for those that
   * unsettled work still needs; with `refused`, the user of the store has not the right to TRUNCATE.
   */
  | {
      kind: "bodies_blocked";
      reason: "in_use" | "slow" | "refused";
      lateMs: number;
      sessions: readonly SessionOfServer[];
    }
  /** The API refuses the key, the scope or the address; contact events wait. */
  | { kind: "api_refused"; error: string };

/** What to do about it, for the log. */
export const ADVICE: Record<Alarm["kind"], string> = {
  signature_mismatches:
    "Check the secret against the endpoint's (the whole string with whsec_). Deliveries are answered 503 meanwhile, so the service sends them again.",
  signature_unreadable:
    "Compare the shape with the option `signature` of createReceiver, and try `pigeonhole verify` on a captured delivery. Deliveries are answered 503 meanwhile, so the service sends them again.",
  older_secret_matched: "Finish the rotation, or put the newest secret first.",
  secrets_unavailable:
    "See why the function given as secrets fails or takes longer than 2 s. Deliveries that match none of the known secrets are answered 503 meanwhile, so the service sends them again.",
  clock_skew:
    "Synchronise this machine's clock. Deliveries signed outside the time window are answered 503 meanwhile, so the service sends them again, " +
    "and nothing is dropped for its age. After a long stop the clock may be right: the next delivery confirms it.",
  other_bytes:
    "The service sent two bodies under one id; the first one counts. If that one is parked and was never handled, the second is kept too, and handled when it is understood.",
  failures_in_a_row:
    "At 100 the service disables the endpoint and further events are lost. What it has given up comes back with pigeonhole endpoints repair.",
  final_answer:
    'The service does not send it again. 401: `unverified` is "reject". 405, 415: something in front of the receiver changes the request. 413: raise maxBodyBytes. The log lines final_answer have each one.',
  body_consumed:
    "A body parser ran before the receiver, so the signed bytes are gone. Mount receiver.middleware() before express.json(), or limit express.json() to other paths.",
  silence:
    "Is the endpoint still enabled, and does its URL still lead here? What the service gave up meanwhile comes back with pigeonhole endpoints repair.",
  work_dead:
    "See inbox.list({ state: 'dead' }) or pigeonhole inbox list --state dead for the errors. Retry or discard it; it is kept until then.",
  work_parked:
    "See inbox.list({ state: 'parked' }) or pigeonhole inbox list --state parked for the errors. Correct the schema or add the handler, then pigeonhole inbox retry --parked; it is kept until then.",
  crash_loop:
    "See inbox.list({ state: 'parked' }) for the events, find out why the process ends while the handler runs, then retry or discard them.",
  backlog:
    "Handlers are too slow or too few, hang, or no process runs them: see pendingByHandler of stats(). Raise concurrency, or lower timeoutMs. Nothing is lost meanwhile.",
  handler_missing:
    "Its handler was renamed or removed, or another process that uses this file has it but does not run handlers: one process runs those of a file. Register it here, or discard the work.",
  contact_events_dead: "See contactEvents.list({ state: 'dead' }) for the reasons. Retry or discard them.",
  contact_events_stuck:
    "The API cannot be reached, refuses the calls or is slower than events are recorded; the log lines send_failed say which. They wait in the outbox meanwhile.",
  api_refused: "Check the API key, its scopes and baseUrl. Contact events wait in the outbox meanwhile.",
  wal_blocked:
    "A program holds a read transaction on the database open. End it before the disk is full; a copy is made with receiver.inbox.backup() or pigeonhole inbox backup.",
  checkpoint_failed:
    "Repair what the message names: the disk of the database, its room or the rights on the file. Deliveries are stored in the WAL meanwhile, until that fills the disk.",
  bodies_blocked:
    "in_use: end the sessions, with pg_terminate_backend(pid), or wait until a dump has ended. slow: retry or discard dead and parked work. refused: grant TRUNCATE, as the SQL of pigeonhole postgres schema --grant does. The bodies are deleted one by one meanwhile, and their disk is given back later.",
  deliveries_overdue:
    "The disk, or what shares it, is too slow: check its load, and handlers that block the process. Deliveries are answered 503 meanwhile, so the service sends them again.",
  store_unavailable: "Deliveries are answered 503 meanwhile, so the service sends them again.",
};

/** The same kind is logged and reported once in this time; counters keep counting. */
const REPEAT_MS = MINUTE;

/** Logs alarms and hands them to the user's hook, each kind at most once a minute. */
export class Alarms {
  readonly #deps: { logger: Logger; clock: Clock; hook: ((alarm: Alarm) => unknown) | undefined };
  readonly #lastRaised = new Map<Alarm["kind"], number>();
  readonly #recent = new RecentAlarms<Alarm>();

  constructor(deps: { logger: Logger; clock: Clock; hook: ((alarm: Alarm) => unknown) | undefined }) {
    this.#deps = deps;
  }

  raise(alarm: Alarm): void {
    const { logger, clock, hook } = this.#deps;
    const now = clock.now();
    this.#recent.note(alarm, now);
    const last = this.#lastRaised.get(alarm.kind);
    if (last !== undefined && now >= last && now - last < REPEAT_MS) return;
    this.#lastRaised.set(alarm.kind, now);
    const { kind, ...fields } = alarm;
    logger.error({ alarm: kind, ...fields, advice: ADVICE[kind] }, "alarm");
    void this.#callHook(() => hook?.(alarm), kind);
  }

  /** Those that are not over, the last raised first. */
  get recent(): RecentAlarm<Alarm>[] {
    return this.#recent.list(this.#deps.clock.now());
  }

  /** The hook may be asynchronous; an unhandled rejection would end the process. */
  async #callHook(call: () => unknown, kind: Alarm["kind"]): Promise<void> {
    try {
      await call();
    } catch {
      this.#deps.logger.error({ alarm: kind }, "alarm_hook_threw");
    }
  }
}

/** Raises `silence` when nothing was accepted for a while, and again after each further while. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #alarms: Alarms;
  #lastAcceptedAt: number;
  #timer: Timer | undefined;

  constructor(clock: Clock, afterMs: number, alarms: Alarms) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#alarms = alarms;
    this.#lastAcceptedAt = clock.now();
  }

  start(): void {
    this.#lastAcceptedAt = this.#clock.now();
    this.#wait(this.#afterMs);
  }

  /** Cheap: the timer is not moved; it checks this time when it fires. */
  accepted(): void {
    this.#lastAcceptedAt = this.#clock.now();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #wait(delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => {
      // A later time than now means that the clock was set back.
      this.#lastAcceptedAt = Math.min(this.#lastAcceptedAt, this.#clock.now());
      const sinceMs = this.#clock.now() - this.#lastAcceptedAt;
      if (sinceMs >= this.#afterMs) this.#alarms.raise({ kind: "silence", sinceMs });
      this.#wait(sinceMs >= this.#afterMs ? this.#afterMs : this.#afterMs - sinceMs);
    }, delayMs);
  }
}
