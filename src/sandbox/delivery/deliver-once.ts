import { SandboxApiError, invalidParameter } from "../api/api-handlers.js";
import type { AttemptLog } from "./attempt-log.js";
import type { AttemptRow } from "./attempt-row.js";
import type { DeliveryEngine } from "./delivery-engine.js";
import { type SandboxEvent, eventBody } from "./scheduled-delivery.js";
import type { EndpointRegistry } from "../endpoints/endpoint-registry.js";
import type { PassTime } from "./pass-time.js";

/**
 * Single attempts, requested by a caller who waits for the result; undefined if the endpoint was deleted meanwhile.
 * Refusals are SandboxApiErrors.
 */
export interface DeliverOnce {
  /** For any subscription of the endpoint, and also while it is off. See docs/service.md#test-deliveries. */
  test(endpointId: string): Promise<AttemptRow | undefined>;
  /** Sends a failed delivery again; the endpoint must be on. See docs/service.md#replay. */
  replay(endpointId: string, rowId: string): Promise<AttemptRow | undefined>;
}

export function createDeliverOnce(from: {
  endpoints: EndpointRegistry;
  engine: DeliveryEngine;
  log: AttemptLog;
  passTime: PassTime;
  /** Throws when the sandbox is closed. */
  requireOpen: () => void;
  makeTestEvent: () => SandboxEvent;
}): DeliverOnce {
  const { endpoints, engine, log, passTime, requireOpen, makeTestEvent } = from;
  return {
    async test(endpointId) {
      requireOpen();
      const endpoint = endpoints.get(endpointId);
      const event = makeTestEvent();
      return passTime.until(engine.deliverOnce("test", endpoint, { event, body: eventBody(event) }));
    },
    async replay(endpointId, rowId) {
      requireOpen();
      const endpoint = endpoints.get(endpointId);
      const logged = log.find(endpointId, rowId);
      if (logged === undefined) throw noSuchRow();
      if (logged.row.status === "delivered")
        throw invalidParameter("deliveryId", "Only a failed delivery is replayed.");
      if (!endpoint.enabled) throw invalidParameter("id", "The endpoint is switched off; switch it on first.");
      const { event, body } = logged.delivery;
      return passTime.until(engine.deliverOnce("replay", endpoint, { event, body }));
    },
  };
}

/** 404 for a row that the delivery log does not have. */
export function noSuchRow(): SandboxApiError {
  return new SandboxApiError({ code: "resource_not_found", param: "deliveryId" });
}
