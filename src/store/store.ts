import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import type { OneOrMore } from "../protocol/event.js";
import type { CommitTransaction } from "./commit-transaction.js";
import type { FiguresStore } from "./figures.js";
import type { InboxOperator } from "./inbox-operator.js";
import type { Outbox } from "./outbox.js";
import type { PausedHandler } from "./paused-handlers.js";
import type { RunSlots, RunSlotsRequest } from "./queries/run-slots.js";
import type { TraceContext } from "./trace-context.js";
import type {
  DoneSettlement,
  Lease,
  LeasedWork,
  NewestKey,
  NewestResult,
  NewWork,
  ParkedNote,
  Settlement,
} from "./work.js";

/** An event to be stored, with its work. Bytes are stored exactly as given. */
export interface NewEvent {
  /** The dedup key: the envelope's id, or `raw:` and a digest for a body that has none. */
  id: string;
  /** Empty for a body in which no type was found. */
  type: string;
  /** Milliseconds since 1970, when the whole body was received. */
  receivedAt: number;
  /** Milliseconds since 1970, the signed time. */
  signedAt: number;
  /** True for the service's synthetic test delivery. */
  test: boolean;
  /** The exact received bytes. */
  body: Uint8Array;
  /** One per handler that gets the event. */
  work: readonly NewWork[];
  /** The span of the delivery, which the spans of its runs link to; kept with the body. @default none */
  trace?: TraceContext | undefined;
  /** Set when the event was not understood; it is then also listed as parked. */
  parked?: ParkedNote | undefined;
}

/**
 * `leases` are those of the work that asked for one, in the order given. `otherBytes`: the id was known with other
 * bytes; these take their place if they are understood, and the event is
 * parked and no handler has run on it.
 */
export type AcceptResult =
  | { kind: "stored"; seq: number; leases: readonly Lease[]; otherBytes: boolean }
  | { kind: "duplicate"; otherBytes: boolean };

/** A request for work of one handler. */
export interface LeaseRequest {
  /** Name of the handler that asks for work. */
  handler: string;
  /** The time of the call, in milliseconds since 1970; work that is due later is not leased. */
  now: number;
  /** When the leases end unless they are renewed, in milliseconds since 1970. */
  leaseUntil: number;
  /** At most this many pieces of work. */
  limit: number;
  /** Stops adding work once this many bytes of bodies are in the page; one piece is always returned. */
  maxBytes: number;
  /** Most pieces of work that one process died in; they are returned first and without other work. */
  crashedLimit: number;
  /** Whether one piece of crash-looping work may be returned: two processes died in it. It is returned alone. */
  allowCrashLooping: boolean;
  /**
   * Where nothing is due, at most so much work is made from the handler's history and leased. Where several processes
   * lease, they lease no more than that while there is history. @default 0
   */
  history?: number;
  /** History is made from the newest event down. @default false */
  newestFirst?: boolean;
}

/** Leased work of one handler. */
export interface LeasePage {
  /** The leased work, the longest due first; empty when nothing is due. */
  work: LeasedWork[];
  /** When the handler's next pending work is due; undefined when none is pending. May be in the past: ask again. */
  nextDueAt: number | undefined;
  /** Pending work of the handler waits for a key, which `nextDueAt` does not count. @default false */
  waitsForKey?: boolean;
  /** Until when a wait of one of its pieces holds the handler, which leases nothing until then. @default not held */
  heldUntil?: number;
  /** The handler may have more history, which a page with room for it makes. @default false */
  hasHistory?: boolean;
}

/** `lost`: the lease had ended, nothing was written. */
export type SettleResult = "settled" | "lost";

/** What recovering the work of dead processes did. */
export interface RecoverResult {
  /** False while another live process runs the handlers of this store; then nothing may be leased here. */
  owner: boolean;
  /** Leases of dead processes that were made pending. */
  recovered: number;
  /** Work parked because too many processes died in it. */
  parked: number;
}

/** What there is to do in a store whose work several processes share. */
export interface Glance {
  /** Those of the handlers that have work which is due, or which may have its key now. */
  due: string[];
  /** The names of all handlers that are paused. */
  paused: string[];
  /** Whether a retry was requested from outside. */
  requested: boolean;
  /** Whether a call with contact events can be made. */
  contactEvents: boolean;
  /** Whether `recover` may find a lease whose holder is gone, or others may have taken leases of this process. */
  orphans: boolean;
}

/** The tools that a store gets when it is opened. */
export interface StoreContext {
  /** Receives the store's log lines. */
  logger: Logger;
  /** Called for problems that need an operator, also when no call fails. @default none */
  onAlarm?: ((alarm: StoreAlarm) => void) | undefined;
  /** False for a process that only accepts: it leases nothing before its first `recover`. @default true */
  runsHandlers?: boolean | undefined;
  /** Times the checks for removed files; on a server, it is compared with the server's. @default the machine's clock */
  clock?: Clock | undefined;
}

/** What a store reports about itself. */
export type StoreAlarm =
  /** It stores nothing, temporarily or permanently. */
  | { kind: "store_unavailable"; code: string; message: string }
  /** A reader has kept the WAL from being emptied for `forMs` milliseconds, and it has grown to `walBytes`. */
  | { kind: "wal_blocked"; walBytes: number; forMs: number }
  /** The WAL cannot be moved into the database, for this reason; it has grown to `walBytes`. */
  | { kind: "checkpoint_failed"; walBytes: number; code: string; message: string }
  /** This machine's clock and the server's, by which leases end, differ by this much. */
  | { kind: "clock_skew"; skewSeconds: number };

/** What becomes of an event that is retried. */
export interface ReplanPlan {
  /** The event, by its place in the order of acceptance. */
  seq: number;
  /** Handlers that get the event. */
  handlers: readonly string[];
  /** Set when the event is still not understood: replaces its note. */
  parked?: ParkedNote;
  /** The time of the call, in milliseconds since 1970; the work is due from then on. */
  now: number;
  /** True for a retry that was requested from outside. @default false */
  requested?: boolean;
}

/** A page of events that are stuck. */
export interface StuckQuery {
  /** How they are stuck. */
  state: "dead" | "parked" | "requested";
  /** Most events. */
  limit: number;
  /** Only events after this one in the order of acceptance. */
  afterSeq: number;
}

/** What retention no longer keeps. */
export interface PruneLimits {
  /** Rows of a later time were written under a wrong clock; they are kept. */
  now: number;
  /** Whole events received before this are removed. */
  idsBefore: number;
  /** Bodies received before this are removed. */
  bodiesBefore: number;
  /** Settled contact events recorded before this are removed. */
  sentBefore: number;
  /** At most this many rows are checked. */
  batch: number;
}

/** What is known of a handler's retry policy by those who look at its work. */
export interface HandlerPolicy {
  /** Name of the handler. */
  handler: string;
  /** Runs on an event in all, the first included. */
  maxAttempts: number;
  /** The types of events that it gets, and patterns of them; none for one that gets what no other handler gets. */
  types: readonly string[];
}

/** Times that outlive the process, in milliseconds since 1970; undefined when not known. */
export interface KnownTimes {
  /** What this machine's clock showed when it was last trusted. */
  clock?: number | undefined;
  /** The newest time in a delivery of the service. */
  delivery?: number | undefined;
  /** The newest time in an answer of the service's API. */
  api?: number | undefined;
}

/**
 * Durable inbox. All methods are asynchronous; each resolves after its effect is safe against a power cut, and rejects
 * with a `PigeonholeError` (`store_busy`, `store_full`, `store_failed`, `store_replaced`, `store_corrupt`, `stopped`)
 * when nothing was written, or with `store_unreachable` when a server does not tell whether it was. Times come in as
 * arguments, in milliseconds since 1970. What holds for each is in a conformance suite (`test/store/conformance.ts`)
 * and in models (`test/store/model`). `Tx` is what `commit` passes to its function.
 */
export interface Store<Tx = CommitTransaction> extends Outbox, FiguresStore {
  /** Absolute path of the database, for a command in a log line; undefined where it is not one file. */
  readonly file?: string | undefined;
  /**
   * Opens the database and brings its tables up to date. Called once, before any other method. Rejects with what
   * keeps it from being used, such as `schema_too_new` or `not_a_pigeonhole_database`.
   */
  open(context: StoreContext): Promise<void>;
  /** Finishes started operations, then closes. Later calls reject with `stopped`. */
  close(): Promise<void>;

  /** Stores an event with its work, unless its id is known. See docs/service.md#envelope for the id. */
  accept(event: NewEvent): Promise<AcceptResult>;

  /** Leases due work of one handler, the longest due first. */
  lease(request: LeaseRequest): Promise<LeasePage>;
  /** Extends leases to `leaseUntil`; returns those that were lost. */
  renew(leases: readonly Lease[], leaseUntil: number): Promise<Lease[]>;
  /**
   * Releases leases whose work never began, or was interrupted, as if it had not been leased; the work is due since it
   * was received. Rejects with `store_busy` while some of it cannot be released.
   */
  release(leases: readonly Lease[], now: number): Promise<void>;
  /**
   * Gives a key to leased work, which has it until its lease ends. False while other leased work of the handler has
   * it: the work is then pending as if it had not been leased, and is leased again when the key is free. Also false
   * when the lease has ended. Missing in a store whose handlers one process runs.
   */
  holdKey?(lease: Lease, key: string): Promise<boolean>;
  /** Reserves times at which runs of a handler may begin, for all processes of the store. */
  reserveRuns(request: RunSlotsRequest): Promise<RunSlots>;
  /**
   * Asked before leased work begins that counts only as the newest of its key, while no other work of the key runs. If
   * the handler has work for a newer event of it, whatever became of that, it ends as superseded; what a person
   * discarded before it ran, since its last retry, does not count. Waiting, dead and parked work for events older
   * than the newest ends so too, at most 500 at a time.
   */
  beginNewest(lease: Lease, of: NewestKey, now: number): Promise<NewestResult>;
  /**
   * Ends a run: its work is done, waits again, is dead or parked. `lost` when the lease had ended; nothing is written
   * then.
   */
  settle(settlement: Settlement): Promise<SettleResult>;
  /**
   * Runs `fn` and settles the work, one piece or several, as done in one transaction. Rejects with what `fn` throws
   * (nothing is written then), `commit_async` when it returns a promise and the store's transactions are synchronous,
   * `transaction_ended` when its SQL ends the transaction, `lease_lost` where one of the leases is, or the reason of
   * `signal` if it is aborted before `fn` has ended: nothing is written then.
   */
  commit(settlements: OneOrMore<DoneSettlement>, fn: (tx: Tx) => unknown, signal?: AbortSignal): Promise<void>;
  /** Takes over from a dead process: expired leases, or all of its leases, become pending again or parked. */
  recover(now: number): Promise<RecoverResult>;
  /**
   * Says what there is to do, so that a process without work needs no other query. Only a store has it whose handlers
   * run in several processes at the same time.
   */
  glance?(request: { handlers: readonly string[]; now: number }): Promise<Glance>;
  /**
   * After the clock was set back: waits that began later than `now` begin now and keep their length, and leases end at
   * `leaseUntil` at the latest. Resolves with the number of such waits.
   */
  restartWaits(limits: { now: number; leaseUntil: number }): Promise<number>;

  /** Values of finished steps, as JSON text by name. */
  loadSteps(work: Pick<Lease, "seq" | "handler">): Promise<Record<string, string>>;
  /**
   * Keeps the value of a finished step under its name, as JSON text, with the time `at`. The first value of a name
   * stays, with its time. `lost` when the lease had ended; nothing is written then.
   */
  saveStep(lease: Lease, name: string, value: string, at: number): Promise<SettleResult>;

  /**
   * Ids of events with dead or parked work, oldest first; `requested`: of those whose retry was requested from outside,
   * each until its note is replaced or gone.
   */
  listStuck(query: StuckQuery): Promise<{ seq: number; id: string }[]>;
  /**
   * Makes pending: all dead and parked work of the event, and the given handlers that have no work of it.
   * With `parked` the note is replaced and only the given work is planned. With `requested` nothing happens unless the
   * note still waits for a requested retry. Returns how many pieces are now pending.
   */
  replan(plan: ReplanPlan): Promise<number>;
  /**
   * Removes one small batch of what retention no longer keeps. Events with unsettled work stay. Returns how many rows
   * it checked or removed; 0 when the round is over.
   */
  prune(limits: PruneLimits): Promise<number>;
  /** Handlers that get no work until a person resumes them, in the order of their names. */
  listPaused(): Promise<PausedHandler[]>;
  /** Keeps the policies of these handlers in place of earlier ones; lists show them with their work. */
  keepPolicies(policies: readonly HandlerPolicy[]): Promise<void>;
  /** Replaces the known times by those given; resolves with all that are known then. */
  noteTimes(times: KnownTimes): Promise<KnownTimes>;
  /**
   * What people see and do in the open store, at the times of `now`: beside what deliveries and handlers use, so that a
   * long list keeps neither waiting. Its calls reject with `stopped` while the store is not open.
   */
  openOperator(now: () => number): InboxOperator;
}
