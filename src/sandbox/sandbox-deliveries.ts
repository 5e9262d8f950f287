import type { OwnedAddresses } from "./access/allowlists.js";
import { SandboxApiError, invalidParameter } from "./api/api-handlers.js";
import type { MakeId } from "./api/make-id.js";
import type { SandboxTime } from "./clock/sandbox-time.js";
import type { DeliverOnce } from "./control/sandbox.js";
import { AttemptLog, type LoggedAttempt } from "./delivery/attempt-log.js";
import { AttemptQueue } from "./delivery/attempt-queue.js";
import { AttemptSender } from "./delivery/attempt-sender.js";
import type { AttemptRow } from "./delivery/attempt-row.js";
import { EventWaiter, sandboxClosed } from "./delivery/event-waiter.js";
import { DeliveryEngine } from "./delivery/delivery-engine.js";
import { DeliveryFaultList } from "./delivery/delivery-faults.js";
import { PassTime } from "./delivery/pass-time.js";
import { type TargetGuard, lookUpHost as askMachine, refusePrivate } from "./delivery/resolve-target.js";
import { eventBody } from "./delivery/scheduled-delivery.js";
import { sendInProcess } from "./delivery/send-in-process.js";
import { sendOverHttp } from "./delivery/send-over-http.js";
import { EndpointRegistry } from "./endpoints/endpoint-registry.js";
import type { EventMaker } from "./event-maker.js";
import { type Happened, loggedUrl } from "./log-entry.js";
import type { ResolvedSandboxOptions } from "./options.js";

/** What the half that delivers is made of. */
interface Parts {
  options: ResolvedSandboxOptions;
  time: SandboxTime;
  makeId: MakeId;
  owned: OwnedAddresses;
  events: EventMaker;
  note: (happened: Happened) => void;
}

/** The half of the sandbox that delivers: its endpoints, their attempts, and the passing of time. */
export class SandboxDeliveries implements DeliverOnce {
  readonly faults = new DeliveryFaultList();
  readonly log: AttemptLog;
  readonly waiter = new EventWaiter<AttemptRow>();
  readonly passTime: PassTime;
  readonly endpoints: EndpointRegistry;
  readonly engine: DeliveryEngine;
  readonly #events: EventMaker;
  isClosed = false;

  constructor(parts: Parts) {
    const { options, time, note } = parts;
    const queue = new AttemptQueue({
      atOnce: options.attemptsAtOnce ?? (time.isManual ? 1 : 64),
      patienceMs: time.isManual ? options.patienceMs : undefined,
    });
    this.#events = parts.events;
    this.log = new AttemptLog(options.maxLogRows);
    this.passTime = new PassTime(time, queue, (byMs) => note({ kind: "clock", byMs }));
    this.endpoints = this.#makeEndpoints(parts);
    this.engine = this.#makeEngine(parts, queue);
  }

  /** Ends every delivery and wait; what would send or wait afterwards throws `stopped`. */
  close(): void {
    this.isClosed = true;
    this.engine.stop();
    this.waiter.close();
  }

  requireOpen(): void {
    if (this.isClosed) throw sandboxClosed();
  }

  async test(endpointId: string): Promise<AttemptRow | undefined> {
    this.requireOpen();
    const endpoint = this.endpoints.get(endpointId);
    const event = this.#events.makeTest();
    return this.passTime.until(this.engine.deliverOnce("test", endpoint, { event, body: eventBody(event) }));
  }

  async replay(endpointId: string, rowId: string): Promise<AttemptRow | undefined> {
    this.requireOpen();
    const endpoint = this.endpoints.get(endpointId);
    const { row, delivery } = this.attempt(endpointId, rowId);
    if (row.status === "delivered") throw invalidParameter("deliveryId", "Only a failed delivery is replayed.");
    if (!endpoint.enabled) throw invalidParameter("id", "The endpoint is switched off; switch it on first.");
    return this.passTime.until(this.engine.deliverOnce("replay", endpoint, delivery));
  }

  /** A row of the delivery log; throws 404 for one that it does not have. */
  attempt(endpointId: string, rowId: string): LoggedAttempt {
    const logged = this.log.find(endpointId, rowId);
    if (logged !== undefined) return logged;
    throw new SandboxApiError({ code: "resource_not_found", param: "deliveryId" });
  }

  #makeEndpoints({ options, time, makeId, owned, note }: Parts): EndpointRegistry {
    return new EndpointRegistry({
      ...options,
      clock: time.clock,
      makeId,
      owned,
      onChange: (endpoint, change) => {
        if (change === "disabled") this.engine.endpointDisabled(endpoint);
        if (change === "deleted") {
          this.engine.endpointDeleted(endpoint);
          this.log.deleteEndpoint(endpoint.id);
        }
        note({ kind: "endpoint", endpointId: endpoint.id, change, reason: endpoint.disabledReason });
      },
    });
  }

  #makeEngine({ options, time, makeId, note }: Parts, queue: AttemptQueue): DeliveryEngine {
    const { receive } = options;
    const post = receive === undefined ? sendOverHttp : sendInProcess(receive);
    return new DeliveryEngine({
      ...options,
      time,
      makeId,
      endpoints: this.endpoints,
      log: this.log,
      queue,
      faults: this.faults,
      sender: new AttemptSender({ ...options, time, post, guard: guardOf(options) }),
      onAttempt: (row, { endpoint }) => {
        note({ kind: "attempt", row, url: loggedUrl(endpoint.url) });
        this.waiter.emit(row);
      },
    });
  }
}

function guardOf({ receive, lookUpHost, refuseAddress }: ResolvedSandboxOptions): TargetGuard | undefined {
  const refuse = [
    ...(lookUpHost === undefined ? [] : [refusePrivate]),
    ...(receive !== undefined || refuseAddress === undefined ? [] : [refuseAddress]),
  ];
  return refuse.length === 0 ? undefined : { lookUp: lookUpHost ?? askMachine, refuse };
}
