import type { OutcomeKind } from "../protocol/outcome.js";
import type { ParseFailure } from "../protocol/parse-signature.js";
import type { RepairRound } from "../store/repair-rounds.js";
import type { StoreAlarm } from "../store/store.js";

/** A problem that needs an operator. Never holds a secret, a signature or a body. */
export type Alarm =
  /** Readable signatures that no secret made, in a row: a secret here is probably no longer its endpoint's. */
  | { kind: "signature_mismatches"; inARow: number }
  /**
   * A signature header whose layout is not the assumed one, or a timestamp header without it (`missing_signature`).
   * `shape` has names, lengths and kinds of characters, never a value.
   */
  | { kind: "signature_unreadable"; reason: ParseFailure["reason"]; shape: string }
  /** Only an older secret of the list fits: the service has not rotated yet, or the list is in the wrong order. */
  | { kind: "older_secret_matched"; secretIndex: number; source: string }
  /**
   * The function given as `secrets` is `late` or has `failed`, so a signature that no known secret fits cannot be
   * judged.
   */
  | { kind: "secrets_unavailable"; reason: "late" | "failed" }
  /**
   * Genuine signatures outside the time window: one of the two clocks is off by this much. Or this machine's clock is
   * ahead of the time that has certainly passed by this much: data is dropped for its age by the latter.
   */
  | { kind: "clock_skew"; skewSeconds: number }
  /**
   * An event was delivered again under a known id with other bytes. If they are understood, they take the place of the
   * first ones while those are parked and were never handled.
   */
  | { kind: "other_bytes"; eventId: string }
  /**
   * The last round of the option `repair` found `missing` events that the service had failed to deliver, or could not
   * look for them. `refused` says why some may be missing still; null when all have arrived.
   */
  | ({ kind: "events_missed" } & Omit<RepairRound, "at">)
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
  /** The API refuses the key, the scope or the address; contact events wait. */
  | { kind: "api_refused"; error: string }
  | StoreAlarm;

interface AlarmTexts {
  /** `warn`: nothing fails yet. @default error */
  severity?: "warn";
  /** What to do about it, for the log. */
  advice: string;
  /** The same for the page of the dashboard, where the log names functions and commands. */
  onPage?: string;
  /** What the log says when it is over. One without is over when it was not raised for a while. */
  over?: string;
}

/** What is said of each kind. Each watch shows what lasts with `Alarms.show`, which 0 ends, and raises what happens. */
export const ALARMS: Readonly<Record<Alarm["kind"], AlarmTexts>> = {
  signature_mismatches: {
    advice:
      "Check the secret against the endpoint's (the whole string with whsec_). Deliveries are answered 503 meanwhile, so the service sends them again.",
    over: "Signatures fit the secrets again.",
  },
  signature_unreadable: {
    advice:
      "Compare the shape with the option `signature` of createReceiver, and try `pigeonhole captures show` on a captured delivery. Deliveries are answered 503 meanwhile, so the service sends them again.",
  },
  older_secret_matched: {
    severity: "warn",
    advice: "Finish the rotation, or put the newest secret first.",
  },
  secrets_unavailable: {
    advice:
      "See why the function given as secrets fails or takes longer than 2 s. Deliveries that match none of the known secrets are answered 503 meanwhile, so the service sends them again.",
  },
  clock_skew: {
    advice:
      "Synchronise this machine's clock. Deliveries signed outside the time window are answered 503 meanwhile, so the service sends them again. " +
      "Nothing is dropped too early. After a long stop the clock may be right: the next delivery confirms it.",
  },
  other_bytes: {
    severity: "warn",
    advice:
      "The service sent two bodies under one id; the first one counts, or the second if that is understood and the first is parked and was never handled.",
  },
  failures_in_a_row: {
    advice:
      "At 100 the service disables the endpoint and further events are lost. Events that it gave up come back with pigeonhole endpoints repair.",
    over: "A delivery was answered 2xx again.",
  },
  events_missed: {
    severity: "warn",
    advice:
      "Find what answers in place of the receiver: a proxy, a login, a deploy. Where `refused` says why some may be missing still, pigeonhole endpoints repair --dry-run names them.",
    over: "A round of the repair has found no event missing.",
  },
  final_answer: {
    advice:
      'The service does not send it again. 401: `unverified` is "reject". 405, 415: something in front of the receiver changes the request. 413: raise maxBodyBytes. The log lines final_answer have each one.',
  },
  body_consumed: {
    advice:
      "A body parser ran before the receiver, so the signed bytes are gone. Mount the receiver above every body parser, such as express.json(), or limit the parser to other paths.",
  },
  silence: {
    advice:
      "Is the endpoint still enabled, and does its URL still lead here? Events that the service gave up come back with pigeonhole endpoints repair.",
    over: "A delivery was accepted again.",
  },
  work_dead: {
    advice:
      "See inbox.list({ state: 'dead' }) or pigeonhole inbox list --state dead for the errors. Retry or discard it; it is kept until then.",
    onPage:
      "See Errors for what failed, and Work, state dead, for the events. Retry or discard them there; they are kept until then.",
    over: "No work is dead any more.",
  },
  work_parked: {
    advice:
      "See inbox.list({ state: 'parked' }) or pigeonhole inbox list --state parked for the errors. Correct the schema or add the handler, then pigeonhole inbox retry --state parked; it is kept until then.",
    onPage:
      "See Work, state parked, for the events and what does not fit. Deploy a schema or a handler that takes them, then retry them there; they are kept until then.",
    over: "No work is parked any more.",
  },
  crash_loop: {
    advice:
      "See inbox.list({ state: 'parked' }) for the events, find out why the process ends while the handler runs, then retry or discard them.",
    onPage:
      "See Work, state parked, for the events, find out why the process ends while the handler runs, then retry or discard them there.",
  },
  backlog: {
    advice:
      "Handlers are too slow or too few, hang, or no process runs them: see pendingByHandler of stats(). Raise concurrency, or lower timeoutMs. Nothing is lost meanwhile.",
    onPage:
      "Handlers are too slow or too few, hang, or no process runs them: see Work, Handlers, for whose work waits. Raise concurrency, or lower timeoutMs. Nothing is lost meanwhile.",
    over: "No work has been due for too long any more.",
  },
  handler_missing: {
    advice:
      "Its handler was renamed or removed, or another process that uses this file has it but does not run handlers: one process runs those of a file. Register it here, or discard the work.",
    over: "All work has its handler again, or has gone.",
  },
  contact_events_dead: {
    advice: "See contactEvents.list({ state: 'dead' }) for the reasons. Retry or discard them.",
    onPage: "See Outbox, state dead, for the reasons. Retry or discard them there.",
    over: "No contact event is dead any more.",
  },
  contact_events_stuck: {
    advice:
      "The API cannot be reached, refuses the calls or is slower than events are recorded; the log lines send_failed say which. They wait in the outbox meanwhile.",
    over: "Contact events are sent in time again.",
  },
  api_refused: {
    advice: "Check the API key, its scopes and baseUrl. Contact events wait in the outbox meanwhile.",
  },
  wal_blocked: {
    severity: "warn",
    advice:
      "A program holds a read transaction on the database open. End it before the disk is full; a copy is made with receiver.inbox.backup() or pigeonhole inbox backup.",
  },
  checkpoint_failed: {
    advice:
      "Repair what the message names: the disk of the database, its room or the rights on the file. Deliveries are stored in the WAL meanwhile, until that fills the disk.",
  },
  deliveries_overdue: {
    advice:
      "The disk, or what shares it, is too slow: check its load, and handlers that block the process. Deliveries are answered 503 meanwhile, so the service sends them again.",
  },
  store_unavailable: {
    advice: "Deliveries are answered 503 meanwhile, so the service sends them again.",
  },
};
