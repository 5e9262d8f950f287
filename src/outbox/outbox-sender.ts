import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import type { Clock, Timer } from "../base/clock.js";
import { DAY, MINUTE, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { errorFields } from "../base/error-fields.js";
import { errorName } from "../base/error-text.js";
import type { Logger } from "../base/logger.js";
import type { Random } from "../base/random.js";
import { sleep } from "../base/wait.js";
import type { ContactEventSender } from "../client/call-types.js";
import { EVENT_LIMITS, type ContactEventInput } from "../contract/contact-event.js";
import type { EventResult, FrozenSend, SendSettlement } from "../store/outbox.js";
import type { Store } from "../store/store.js";
import type { TraceContext } from "../store/trace-context.js";
import { judgeFailure, mayBeClockSkew } from "./send-verdict.js";

/**
 * Longer than a call can take with the client's own retries and waits, which for 100 events at one a minute are long:
 * if the lease ended earlier, the call would be repeated again and again. After a crash the next process takes over at
 * once anyway.
 */
const LEASE_MS = DAY;
const BACKOFF: Backoff = { initialMs: SECOND, factor: 2, maxMs: 10 * MINUTE, jitter: 0.2 };
/** Events of a refused batch go into another one after this. */
const AGAIN_WAIT_MS = 30 * SECOND;
/** Another process may have put an event back, as `pigeonhole outbox retry` does; it cannot wake this one. */
const POLL_INTERVAL_MS = SECOND;
/** Limit of a wait that the service asks for: it may be a mistake. */
const MAX_WAIT_MS = DAY;

/** Watches the calls that send contact events; the receiver gives one to OpenTelemetry where that is installed. */
export interface CallObserver {
  /** Makes a call once, inside a span with links to those in which its events were recorded. */
  observeCall(send: FrozenSend, call: () => Promise<EventResult[]>): Promise<EventResult[]>;
  /** The span that is active in the caller; undefined where none is. */
  readonly activeTrace: TraceContext | undefined;
}

export interface SenderDeps {
  store: Store<unknown>;
  api: ContactEventSender;
  clock: Clock;
  random: Random;
  logger: Logger;
  alarms: { raise(alarm: { kind: "api_refused"; error: string }): void };
  clockWatch: { sawApi(createdAt: string): void };
}

/**
 * Outbox → client: one call at a time, in the order of recording. A call that fails for the service's own reasons is
 * repeated unchanged; others wait for it, until it has failed so often that the cause may be its own events.
 */
export class OutboxSender {
  readonly #deps: SenderDeps;
  /** Undefined without OpenTelemetry. */
  observer: CallObserver | undefined;
  #timer: Timer | undefined;
  #drained: Promise<void> = Promise.resolve();
  #isDraining = false;
  #sent = 0;
  #again = false;
  /** When a failed call is tried next. Nothing is sent before it, so new records need not query the store earlier. */
  #waitsUntil = 0;
  /** Events of a refused batch wait, which the store does not know: it says that they can be sent. */
  #isHeldBack = false;
  #abort: AbortController | undefined;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#abort = new AbortController();
    this.#waitsUntil = 0;
    this.#isHeldBack = false;
    this.poll();
  }

  /** Aborts a call in progress; it is repeated after the next start. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#abort?.abort(new Error("The receiver stopped."));
    await this.#drained;
  }

  /** Contact events that the service has taken since this was created. */
  get sent(): number {
    return this.#sent;
  }

  /** True when nothing can be sent now. */
  get isIdle(): boolean {
    return !this.#isDraining;
  }

  async untilIdle(): Promise<void> {
    while (this.#isDraining) await this.#drained;
  }

  /** Something was recorded. */
  wake(): void {
    if (this.#deps.clock.now() >= this.#waitsUntil) this.poll();
  }

  /** There may be something to send, also before the known next try: another call may have been put back. */
  poll(): void {
    if (this.#abort === undefined || this.#abort.signal.aborted || this.#isHeldBack) return;
    this.#again = true;
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#drained = this.#drain(this.#abort.signal);
  }

  async #drain(signal: AbortSignal): Promise<void> {
    try {
      while (this.#again && !signal.aborted) {
        this.#again = false;
        while (!signal.aborted && (await this.#sendNext(signal)));
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#deps.logger.error(errorFields(error, true), "outbox_failed");
      this.#wakeAt(this.#deps.clock.now() + MINUTE);
    } finally {
      // In the same turn as the last check of #again, so that a later call of wake starts another drain.
      this.#isDraining = false;
    }
  }

  /** True when a call was settled and there may be another. */
  async #sendNext(signal: AbortSignal): Promise<boolean> {
    const { store, clock } = this.#deps;
    // The process that may is told of new records as this one is.
    if (store.maySend !== undefined && !(await store.maySend())) return false;
    const now = clock.now();
    const page = await store.leaseSend({ now, leaseUntil: now + LEASE_MS, limit: EVENT_LIMITS.batchSize });
    if (page.send === undefined) {
      this.#waitsUntil = page.nextDueAt ?? 0;
      this.#wakeBy(page.nextDueAt ?? Infinity);
      return false;
    }
    const settlement = await this.#try(page.send, signal);
    await this.#settle(settlement, signal);
    if (settlement.to === "settled") this.#sent += settlement.results.filter(({ to }) => to === "done").length;
    const isAgain = settlement.to === "settled" && settlement.results.some((result) => result.to === "again");
    if (!isAgain) return true;
    // New records wait behind them, and must not make them start earlier.
    this.#waitsUntil = clock.now() + AGAIN_WAIT_MS;
    this.#again = false;
    this.#isHeldBack = true;
    this.#wakeAt(this.#waitsUntil);
    return false;
  }

  /** Writes a settlement, and again each time the store fails: without it the call would wait until its lease ends. */
  async #settle(settlement: SendSettlement, signal: AbortSignal): Promise<void> {
    const { store, clock, logger, random } = this.#deps;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await store.settleSend(settlement);
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        logger.warn({ attempt, ...errorFields(error, true) }, "outbox_settle_waits");
        await sleep(clock, backoffDelay(BACKOFF, attempt, random), signal);
      }
    }
  }

  async #try(send: FrozenSend, signal: AbortSignal): Promise<SendSettlement> {
    const { clock } = this.#deps;
    const settled = { send: send.send, token: send.token };
    try {
      const call = (): Promise<EventResult[]> => callApi(send, signal, this.#deps);
      const results = await (this.observer === undefined ? call() : this.observer.observeCall(send, call));
      this.#logRefused(send, results);
      return { ...settled, at: clock.now(), to: "settled", results };
    } catch (error) {
      const at = clock.now();
      if (signal.aborted) return { ...settled, at, to: "pending", dueAt: at, error: "The receiver stopped." };
      return { ...settled, at, ...this.#judge(error, send, at) };
    }
  }

  /** One line for each code by which a batch that was taken refused some of its events. */
  #logRefused(send: FrozenSend, results: readonly EventResult[]): void {
    const counts = new Map<string, number>();
    for (const result of results) {
      if (result.to === "dead") counts.set(result.code, (counts.get(result.code) ?? 0) + 1);
    }
    for (const [code, events] of counts) {
      this.#deps.logger.error({ ...callFields(send, DEAD_LIST), events, code }, "contact_event_dead");
    }
  }

  #judge(error: unknown, send: FrozenSend, at: number) {
    const { logger, alarms, random } = this.#deps;
    const verdict = judgeFailure(error, send, at);
    switch (verdict.kind) {
      case "retry": {
        const askedMs = Math.min(verdict.afterMs ?? 0, MAX_WAIT_MS);
        const waitMs = Math.max(backoffDelay(BACKOFF, send.attempt, random), askedMs);
        logger.warn(
          { ...callFields(send, "list"), attempt: send.attempt, waitMs, ...errorFields(error, false) },
          "send_failed",
        );
        if (verdict.isConfiguration) alarms.raise({ kind: "api_refused", error: nameOf(error) });
        return { to: "pending" as const, dueAt: at + waitMs, error: verdict.error };
      }
      case "refused":
        logger.error({ ...callFields(send, DEAD_LIST), ...errorFields(error, false) }, "contact_event_dead");
        return { to: "settled" as const, results: verdict.results };
      case "given_up": {
        const { reason, code, param, message } = verdict;
        const fields = { ...callFields(send, DEAD_LIST), ...errorFields(error, false) };
        logger.error(fields, reason === "too_old" ? "contact_event_too_old" : "contact_event_dead");
        return { to: "dead" as const, reason, code, param, message };
      }
    }
  }

  /** At the time, or when the store is to be looked at before it. */
  #wakeBy(time: number): void {
    const { store, clock } = this.#deps;
    // A shared store says by itself when there is something to send.
    const pollAt = store.glance === undefined ? clock.now() + POLL_INTERVAL_MS : Infinity;
    this.#wakeAt(Math.min(time, pollAt));
  }

  #wakeAt(time: number): void {
    this.#timer?.cancel();
    if (time === Infinity) return;
    this.#timer = this.#deps.clock.setTimer(() => {
      this.#isHeldBack = false;
      this.poll();
    }, time - this.#deps.clock.now());
  }
}

/** One call; resolves with the outcome of each event. */
async function callApi(
  send: FrozenSend,
  signal: AbortSignal,
  { api, clock, clockWatch }: SenderDeps,
): Promise<EventResult[]> {
  const events = send.events.map(({ body }) => JSON.parse(body) as ContactEventInput);
  const options = { idempotencyKey: send.key, signal };
  const [first] = events;
  if (send.kind === "single" && first !== undefined) {
    const { id, replayed, createdAt } = await api.contactEvents.send(first, options);
    clockWatch.sawApi(createdAt);
    return send.events.map(({ seq }): EventResult => ({ seq, to: "done", remoteId: id, replayed }));
  }
  const { accepted, failed } = await api.contactEvents.sendBatch(events, options);
  const results: EventResult[] = [];
  for (const { index, id, replayed, createdAt } of accepted) {
    clockWatch.sawApi(createdAt);
    const event = send.events[index];
    if (event !== undefined) results.push({ seq: event.seq, to: "done", remoteId: id, replayed });
  }
  for (const { index, code, message } of failed) {
    const event = send.events[index];
    if (event === undefined) continue;
    if (mayBeClockSkew(code, event.occurredAt, clock.now())) {
      // An earlier try may have stored it, so it must not go out in another call.
      if (send.attempt > 1)
        throw new PigeonholeError("invalid_answer", "A young event was refused, perhaps as future.");
      results.push({ seq: event.seq, to: "again" });
    } else results.push({ seq: event.seq, to: "dead", reason: "refused", code, param: "", message });
  }
  const named = new Set(results.map(({ seq }) => seq)).size;
  if (named !== send.events.length || results.length !== named) {
    // The outcome of the others is not known, so they may only be sent again unchanged.
    throw new PigeonholeError(
      "invalid_answer",
      `The answer to a batch of ${send.events.length} events does not name each of them once.`,
    );
  }
  return results;
}

const DEAD_LIST = "list --state dead";

/** What a log line names the events of a call by, and the command that shows what was answered. */
function callFields({ kind, key, events }: FrozenSend, list: string): Record<string, unknown> {
  // Only a call of one event has the event's own key, which is derived and so quotes nothing.
  if (kind === "single") return { events: 1, key, advice: `npx pigeonhole outbox show ${key}` };
  return { events: events.length, advice: `npx pigeonhole outbox ${list}` };
}

/** Class and code. The service's own message stays in the outbox: it may name an address. */
function nameOf(error: unknown): string {
  const name = errorName(error);
  return error instanceof Error && "code" in error ? `${name} ${String(error.code)}` : name;
}
