import { readRetryAfter } from "../../base/retry-wait.js";
import { seededRandom } from "../../base/random.js";
import { LIMITS } from "../../protocol/limits.js";
import { retryDelay } from "../../protocol/retry-schedule.js";
import type { EndpointRegistry } from "../endpoints/endpoint-registry.js";
import { type Endpoint, receivesEvent } from "../endpoints/endpoint.js";
import type { MakeId } from "../api/make-id.js";
import { type SandboxTime, isoNow } from "../clock/sandbox-time.js";
import type { AttemptLog } from "./attempt-log.js";
import type { AttemptQueue } from "./attempt-queue.js";
import type { AttemptRow } from "./attempt-row.js";
import type { AttemptSender } from "./attempt-sender.js";
import { type DeliveryFault, type DeliveryFaultList, MAX_REORDER_MS } from "./delivery-faults.js";
import type { PlannedAttempt, SandboxEvent, ScheduledDelivery } from "./scheduled-delivery.js";
import { type ReceiverAnswer, failureOfAnswer, verdictOfAnswer } from "./verdict-of-answer.js";

export interface DeliveryEngineOptions {
  time: SandboxTime;
  /** Seed of the jitter of waits, and of faults with a probability. */
  seed: string;
  makeId: MakeId;
  endpoints: EndpointRegistry;
  log: AttemptLog;
  queue: AttemptQueue;
  faults: DeliveryFaultList;
  sender: AttemptSender;
  /** What happens to planned retries when their endpoint is switched off. */
  retriesOfDisabled: "dropped" | "kept";
  /** Whether the log has a row for an event that is not sent since its endpoint is switched off. */
  eventsOfDisabled: "unlogged" | "logged";
  /** Called for every attempt. */
  onAttempt: (row: AttemptRow, delivery: ScheduledDelivery) => void;
}

/** What came of an attempt. */
interface MadeAttempt {
  answer: ReceiverAnswer;
  createdAtMs: number;
  durationMs: number;
  fault: DeliveryFault | undefined;
}

/**
 * Delivers events to endpoints with the service's retries. See docs/service.md#retries and
 * docs/service.md#endpoint-states.
 */
export class DeliveryEngine {
  readonly #options: DeliveryEngineOptions;
  /** Deliveries that have not ended. */
  readonly #open = new Set<ScheduledDelivery>();
  /** Reordered attempts by endpoint. Each is sent when another attempt to the endpoint has ended. */
  readonly #reordered = new Map<string, Set<() => void>>();
  #planned = 0;
  #logged = 0;

  constructor(options: DeliveryEngineOptions) {
    this.#options = options;
  }

  /** Plans the delivery of an event to every endpoint that receives it. An endpoint that is off never gets it. */
  publish(event: SandboxEvent, body: Buffer): ScheduledDelivery[] {
    const { endpoints, eventsOfDisabled } = this.#options;
    return endpoints
      .list()
      .toReversed()
      .filter((endpoint) => (endpoint.enabled || eventsOfDisabled === "logged") && receivesEvent(endpoint, event))
      .map((endpoint) => this.#plan({ kind: "event", endpoint, event, body, onAttempt: undefined }))
      .filter(({ ended }) => !ended);
  }

  /** Makes a single attempt without retries; undefined if the endpoint was deleted meanwhile. */
  deliverOnce(
    kind: "test" | "replay",
    endpoint: Endpoint,
    { event, body }: Pick<ScheduledDelivery, "event" | "body">,
  ): Promise<AttemptRow | undefined> {
    return new Promise((onAttempt) => void this.#plan({ kind, endpoint, event, body, onAttempt }));
  }

  /** Attempts that are due later, soonest first. */
  get planned(): PlannedAttempt[] {
    const { clock, elapsed } = this.#options.time;
    const [nowMs, elapsedMs] = [clock.now(), elapsed()];
    const byDue = [...this.#open].toSorted((a, b) => (a.wait?.dueMs ?? 0) - (b.wait?.dueMs ?? 0));
    return byDue.flatMap(({ id: deliveryId, endpoint, event, attempts, wait }) => {
      if (wait === undefined) return [];
      const about = { deliveryId, endpointId: endpoint.id, eventId: event.id, eventType: event.type };
      return [{ ...about, attempt: attempts + 1, dueAtMs: nowMs + Math.max(0, wait.dueMs - elapsedMs) }];
    });
  }

  /** Deliveries that have not ended. */
  get openDeliveries(): number {
    return this.#open.size;
  }

  /** An endpoint was switched off. Whether the service drops or keeps its retries is not documented. */
  endpointDisabled(endpoint: Endpoint): void {
    if (this.#options.retriesOfDisabled === "dropped") this.#endAll((delivery) => isRetryTo(delivery, endpoint));
  }

  /** An endpoint was deleted. */
  endpointDeleted(endpoint: Endpoint): void {
    this.#endAll((delivery) => delivery.endpoint === endpoint);
  }

  /** Ends everything. Running attempts are aborted and not logged. */
  stop(): void {
    this.#endAll(() => true);
    this.#reordered.clear();
    this.#options.sender.abortAll();
    this.#options.queue.clear();
  }

  #plan(what: Pick<ScheduledDelivery, "kind" | "endpoint" | "event" | "body" | "onAttempt">): ScheduledDelivery {
    this.#planned += 1;
    const id = this.#options.makeId.hex(`delivery ${this.#planned}`);
    const delivery: ScheduledDelivery = { id, ...what, attempts: 0, wait: undefined, ended: false };
    this.#open.add(delivery);
    this.#due(delivery);
    return delivery;
  }

  /** The next attempt is due: it starts, unless a fault delays it. */
  #due(delivery: ScheduledDelivery): void {
    delivery.wait = undefined;
    if (!this.#goesOn(delivery)) return;
    const { endpoint, event, attempts } = delivery;
    const subject = { type: event.type, endpointId: endpoint.id, attempt: attempts + 1 };
    const fault = this.#options.faults.next(subject, this.#randomOf(delivery, "fault"));
    const start = (): void => this.#options.queue.add(() => this.#run(delivery, fault));
    switch (fault?.kind) {
      case "delay":
        return this.#wait(delivery, fault.delayMs, start);
      case "reorder":
        return this.#reorder(delivery, fault.maxMs ?? MAX_REORDER_MS, start);
      case undefined:
      case "drop":
      case "duplicate":
      case "lose_answer":
      case "status":
        return start();
    }
  }

  #wait(delivery: ScheduledDelivery, ms: number, onDue: () => void): void {
    const { clock, elapsed } = this.#options.time;
    const fire = (): void => {
      delivery.wait = undefined;
      onDue();
    };
    delivery.wait = { timer: clock.setTimer(fire, ms), dueMs: elapsed() + ms };
  }

  #reorder(delivery: ScheduledDelivery, maxMs: number, start: () => void): void {
    const { id } = delivery.endpoint;
    const waiting = this.#reordered.get(id) ?? new Set();
    this.#reordered.set(id, waiting);
    const release = (): void => {
      if (!waiting.delete(release)) return;
      delivery.wait?.timer.cancel();
      delivery.wait = undefined;
      start();
    };
    waiting.add(release);
    this.#wait(delivery, maxMs, release);
  }

  async #run(delivery: ScheduledDelivery, fault: DeliveryFault | undefined): Promise<void> {
    // It may have ended while it waited for its turn.
    if (!this.#goesOn(delivery)) return;
    const { clock, network } = this.#options.time;
    delivery.attempts += 1;
    const [createdAtMs, startedMs] = [clock.now(), network.now()];
    const answer = await this.#options.sender.send(delivery, fault);
    if (delivery.ended) return;
    this.#settle(delivery, { answer, createdAtMs, durationMs: Math.max(0, network.now() - startedMs), fault });
  }

  /**
   * False for a delivery that has ended. Ends one whose endpoint is off; whether the log shows an event that was never
   * sent is not documented.
   */
  #goesOn(delivery: ScheduledDelivery): boolean {
    const { ended, kind, endpoint, attempts } = delivery;
    if (ended) return false;
    if (kind !== "event" || endpoint.enabled) return true;
    if (attempts > 0 || this.#options.eventsOfDisabled === "unlogged") {
      this.#end(delivery);
      return false;
    }
    const answer: ReceiverAnswer = { kind: "none", error: "not sent: the endpoint is switched off" };
    const createdAtMs = this.#options.time.clock.now();
    const row = this.#log(delivery, { answer, createdAtMs, durationMs: 0, fault: undefined }, undefined);
    this.#end(delivery, row);
    this.#options.onAttempt(row, delivery);
    return false;
  }

  #settle(delivery: ScheduledDelivery, made: MadeAttempt): void {
    const { endpoint, kind } = delivery;
    const { answer } = made;
    this.#count(delivery, answer);
    const retryAfter = answer.kind === "answered" ? answer.retryAfter : null;
    const isOpen = endpoint.enabled || this.#options.retriesOfDisabled === "kept";
    const isRetried = kind === "event" && isOpen && verdictOfAnswer(answer) === "retry";
    const retryAfterMs = readRetryAfter(retryAfter, this.#options.time.receiver.now());
    const random = this.#randomOf(delivery, "retry");
    const waitMs = isRetried ? retryDelay({ attempt: delivery.attempts, random, retryAfterMs }) : undefined;
    const row = this.#log(delivery, made, waitMs);
    if (waitMs === undefined) this.#end(delivery, row);
    else this.#wait(delivery, waitMs, () => this.#due(delivery));
    this.#options.onAttempt(row, delivery);
    for (const release of this.#reordered.get(endpoint.id) ?? []) release();
  }

  /** Adds a row to the log; `waitMs` is the time until the next attempt. */
  #log(delivery: ScheduledDelivery, made: MadeAttempt, waitMs: number | undefined): AttemptRow {
    const { endpoint, event, kind } = delivery;
    const { answer } = made;
    const { outcome = null, contentType = null } = answer.kind === "answered" ? answer : {};
    this.#logged += 1;
    const row: AttemptRow = {
      id: this.#options.makeId.hex(`attempt ${this.#logged}`),
      endpointId: endpoint.id,
      deliveryId: delivery.id,
      kind,
      attempt: delivery.attempts,
      status: verdictOfAnswer(answer) === "delivered" ? "delivered" : "failed",
      responseCode: answer.kind === "answered" ? answer.status : null,
      outcome,
      contentType,
      durationMs: made.durationMs,
      error: failureOfAnswer(answer),
      eventId: event.id,
      eventType: event.type,
      createdAt: new Date(made.createdAtMs).toISOString(),
      nextAttemptAt: waitMs === undefined ? null : new Date(this.#options.time.clock.now() + waitMs).toISOString(),
      fault: made.fault?.kind ?? null,
    };
    this.#options.log.add(row, delivery);
    return row;
  }

  /**
   * Updates the endpoint after an attempt. A test changes nothing, except that a 410 disables. See
   * docs/service.md#endpoint-states.
   */
  #count({ endpoint, kind }: ScheduledDelivery, answer: ReceiverAnswer): void {
    const verdict = verdictOfAnswer(answer);
    const { endpoints, time } = this.#options;
    if (kind !== "test") {
      endpoint.lastDeliveryAt = isoNow(time.clock);
      endpoint.consecutiveFailures = verdict === "delivered" ? 0 : endpoint.consecutiveFailures + 1;
    }
    if (verdict === "disable") endpoints.disable(endpoint, "The receiver answered 410 Gone.");
    if (endpoint.consecutiveFailures >= LIMITS.disableAfterFailures) {
      endpoints.disable(endpoint, `${LIMITS.disableAfterFailures} deliveries failed in a row.`);
    }
  }

  /** Random numbers for this attempt only, so that the order in which receivers answer has no effect. */
  #randomOf({ event, endpoint, attempts }: ScheduledDelivery, what: string) {
    return seededRandom([this.#options.seed, what, endpoint.id, event.id, attempts].join("\0"));
  }

  #endAll(isMeant: (delivery: ScheduledDelivery) => boolean): void {
    for (const delivery of this.#open) {
      if (isMeant(delivery)) this.#end(delivery);
    }
  }

  #end(delivery: ScheduledDelivery, row?: AttemptRow): void {
    delivery.ended = true;
    delivery.wait?.timer.cancel();
    delivery.wait = undefined;
    this.#open.delete(delivery);
    delivery.onAttempt?.(row);
    delivery.onAttempt = undefined;
  }
}

/** A waiting retry, not a first attempt or a running one. */
function isRetryTo({ endpoint, kind, wait, attempts }: ScheduledDelivery, disabled: Endpoint): boolean {
  return endpoint === disabled && kind === "event" && wait !== undefined && attempts > 0;
}
