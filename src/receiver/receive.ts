import type { Clock } from "../base/clock.js";
import { PigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import type { HandlerRegistry } from "../dispatch/registry.js";
import { type Delivery, decodeDelivery } from "../protocol/decode-delivery.js";
import type { SchemaMap } from "../protocol/event.js";
import type { Outcome, ParkReason } from "../protocol/outcome.js";
import type { RawRequest } from "../protocol/raw-request.js";
import { type VerificationRules, type VerifiedOrNot, verifyRequest } from "../protocol/verify-request.js";
import type { AcceptResult, Store } from "../store/store.js";
import type { Alarms } from "./alarms.js";
import type { ClockWatch } from "./clock-watch.js";
import { routeEvent } from "./route-event.js";
import type { SecretSource } from "./secret-source.js";
import type { SignatureWatch } from "./signature-watch.js";

export interface ReceiveDeps {
  secrets: SecretSource;
  rules: VerificationRules;
  schemas: SchemaMap;
  registry: HandlerRegistry;
  dispatcher: Dispatcher;
  store: Store;
  signatures: SignatureWatch;
  clockWatch: ClockWatch;
  alarms: Alarms;
  clock: Clock;
  logger: Logger;
}

type Verified = Extract<VerifiedOrNot, { ok: true }>;

/** One delivery: verify, decode, store. The answer is decided by what this returns, after the commit. */
export async function receive(raw: RawRequest, deps: ReceiveDeps): Promise<Outcome> {
  const receivedAt = deps.clock.now();
  let verdict = verify(raw, receivedAt, deps);
  // A rotation has no overlap: the secret may have changed since it was read.
  if (isMismatch(verdict)) {
    const { keys } = deps.secrets;
    const areKnown = await deps.secrets.reread();
    if (deps.secrets.keys !== keys) verdict = verify(raw, receivedAt, deps);
    if (isMismatch(verdict) && !areKnown) return { kind: "secrets_unavailable" };
  }
  deps.signatures.saw(verdict, raw.header);
  if (!verdict.ok) return refusal(verdict);
  const delivery = decodeDelivery(verdict.request, deps.schemas);
  if (delivery.kind === "event") deps.clockWatch.sawDelivery(delivery.event, verdict.signedAt);
  try {
    return await storeDelivery(delivery, verdict, receivedAt, deps);
  } catch (error) {
    return storeFailure(error, deps);
  }
}

function verify(raw: RawRequest, nowMs: number, { secrets, rules }: ReceiveDeps): VerifiedOrNot {
  return verifyRequest(raw, secrets.keys, nowMs, rules);
}

function isMismatch(verdict: VerifiedOrNot): boolean {
  return !verdict.ok && verdict.reason === "mismatch";
}

function refusal(verdict: Extract<VerifiedOrNot, { ok: false }>): Outcome {
  switch (verdict.reason) {
    case "missing_signature":
      return { kind: "unsigned" };
    case "malformed_signature":
    case "missing_timestamp":
    case "malformed_timestamp":
      return { kind: "unreadable" };
    case "mismatch":
    case "stale":
    case "early":
      return { kind: "unverified", reason: verdict.reason };
  }
}

async function storeDelivery(
  delivery: Delivery,
  { request, signedAt }: Verified,
  receivedAt: number,
  deps: ReceiveDeps,
): Promise<Outcome> {
  const { store, dispatcher, alarms } = deps;
  const { id } = delivery;
  const { body } = request;
  const isEvent = delivery.kind === "event";
  const { type, test } = isEvent ? delivery.event : delivery;
  const route = isEvent
    ? routeEvent(delivery.event, deps.registry)
    : { handlers: [], parked: { reason: delivery.reason, detail: delivery.detail } };

  const { parked } = route;
  const plan = dispatcher.plan(route.handlers);
  const event = { id, type, test, receivedAt, signedAt, body, work: plan.work, parked };
  let result: AcceptResult;
  try {
    result = await store.accept(event);
  } catch (error) {
    dispatcher.rejected(plan);
    throw error;
  }
  if (isEvent) {
    dispatcher.accepted(plan, result, { eventId: id, receivedAt, signedAt, body, event: delivery.event });
  }

  if (result.otherBytes) {
    // Each id, also while the alarm is held back.
    deps.logger.warn({ eventId: id, eventType: type, kept: result.kind === "stored" }, "other_bytes");
    alarms.raise({ kind: "other_bytes", eventId: id });
  }
  if (result.kind === "duplicate") return { kind: "duplicate", eventId: id, otherBytes: result.otherBytes };
  if (parked !== undefined) {
    deps.logger.warn({ eventId: id, eventType: type, reason: parked.reason }, "parked");
    return { kind: "parked", eventId: id, reason: parked.reason as ParkReason };
  }
  if (test && route.handlers.length === 0) deps.logger.info({ eventId: id, eventType: type }, "test_event");
  return { kind: "accepted", eventId: id, eventType: type };
}

function storeFailure(error: unknown, { alarms }: ReceiveDeps): Outcome {
  const { code, message } =
    error instanceof PigeonholeError
      ? error
      : { code: "store_failed", message: error instanceof Error ? error.name : "unknown" };
  if (code === "stopped") return { kind: "stopping" };
  alarms.raise({ kind: "store_unavailable", code, message });
  if (code === "store_busy") return { kind: "store_unavailable", reason: "busy" };
  return { kind: "store_unavailable", reason: code === "store_full" ? "full" : "failed" };
}
