import type { Clock } from "../base/clock.js";
import { errorFields } from "../base/error-fields.js";
import { errorName } from "../base/error-text.js";
import { PigeonholeError } from "../base/error.js";
import { LATE } from "../base/wait.js";
import type { Logger } from "../base/logger.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import type { HandlerRegistry, Route } from "../dispatch/registry.js";
import type { DeliveryHandler, DeliveryRequest } from "../http/delivery-request.js";
import { type Delivery, decodeDelivery } from "../protocol/decode-delivery.js";
import { inboxIdOf } from "../protocol/inbox-id.js";
import { type Answer, type Outcome, type UnverifiedPolicy, answerFor } from "../protocol/outcome.js";
import { hasSignatureHeaders } from "../protocol/parse-signature.js";
import type { RawRequest } from "../protocol/raw-request.js";
import { SIGNED_HERE_HEADER } from "../protocol/sign-here.js";
import { type VerificationRules, type VerifiedOrNot, verifyRequest } from "../protocol/verify-request.js";
import type { AcceptResult } from "../store/store.js";
import type { TraceContext } from "../store/trace-context.js";
import type { Admission, Admitted } from "./admission.js";
import type { Alarms } from "./alarms.js";
import type { ClockWatch } from "./clock-watch.js";
import type { AnswerWatch, SignatureWatch } from "./delivery-watch.js";
import type { SecretSource } from "./secret-source.js";
import type { Telemetry } from "./telemetry.js";

interface Reporting {
  signatures: SignatureWatch;
  answers: AnswerWatch;
  clockWatch: ClockWatch;
  alarms: Alarms;
  logger: Logger;
}

/** The parts that a delivery passes through. */
export interface DeliveryPath {
  admission: Admission;
  verification: { secrets: SecretSource; rules: VerificationRules & { unverified: UnverifiedPolicy }; clock: Clock };
  registry: HandlerRegistry;
  dispatcher: Dispatcher;
  report: Reporting;
  /** Undefined without OpenTelemetry. */
  telemetry: Telemetry | undefined;
}

/** The handler to which the mounts pass their requests. */
export function createDeliveryHandler(path: DeliveryPath): DeliveryHandler {
  return (request) => handleDelivery(request, path);
}

/**
 * Handles one delivery from its headers to its answer: admit, read the body, verify, decode, route, accept, answer. The
 * answer follows from the outcome, and a 2xx from the commit. Never rejects: an error's own `.status` must not reach
 * the service, where 404 loses the event and 410 switches the endpoint off.
 */
async function handleDelivery(request: DeliveryRequest, path: DeliveryPath): Promise<Answer> {
  const { admission, report } = path;
  try {
    const refused = refuseByHeaders(request, path);
    if (refused !== undefined) return answer(refused, request, path);
    const length = Number(request.header("content-length") ?? Number.NaN);
    const { outcome, tookMs } = await admission.admit(length, (admitted) => take(request, admitted, path));
    if (outcome !== LATE) return answer(outcome, request, path, tookMs);
    // The store may still take it. Then the next attempt is a duplicate, and its handlers run once.
    report.alarms.raise({ kind: "deliveries_overdue", waiting: admission.waiting });
    return answer({ kind: "overloaded" }, request, path, tookMs);
  } catch (error) {
    report.logger.error(errorFields(error, false), "receive_failed");
    return answer({ kind: "internal_error" }, request, path);
  }
}

/** The part that an admitted delivery passes. */
async function take(request: DeliveryRequest, admitted: Admitted, path: DeliveryPath): Promise<Outcome> {
  try {
    const read = await request.readBody(admitted);
    if (read.kind !== "read") return read;
    admitted.wait();
    const unstarted = path.admission.hasStarted ? undefined : await path.admission.untilStarted();
    if (unstarted !== undefined) return unstarted;

    const raw = { header: request.header, body: read.body };
    const observed = path.telemetry?.observeDelivery((trace) => receive(raw, admitted, path, trace));
    return await (observed ?? receive(raw, admitted, path));
  } catch (error) {
    path.report.logger.error(errorFields(error, false), "receive_failed");
    return { kind: "internal_error" };
  }
}

/** The part from the whole body to the commit. */
async function receive(
  raw: RawRequest,
  admitted: Admitted,
  path: DeliveryPath,
  trace?: TraceContext,
): Promise<Outcome> {
  const { secrets, clock } = path.verification;
  const receivedAt = clock.now();
  let verdict = verify(raw, receivedAt, path);
  // A rotation has no overlap: the secret may have changed since it was read.
  if (isMismatch(verdict)) {
    const { keys } = secrets;
    const areKnown = await admitted.waitAside(secrets.reread());
    if (secrets.keys !== keys) verdict = verify(raw, receivedAt, path);
    if (isMismatch(verdict) && !areKnown) return { kind: "secrets_unavailable" };
  }
  const secret = verdict.ok ? secrets.of(verdict.secretIndex) : undefined;
  path.report.signatures.look({ verdict, secret, header: raw.header });
  if (!verdict.ok) return refusal(verdict);

  const { registry, dispatcher, report } = path;
  const delivery = decodeDelivery(verdict.request, registry.schemas);
  const id = inboxIdOf(secret?.source ?? "", delivery.id);
  const isSignedHere = raw.header(SIGNED_HERE_HEADER) !== undefined;
  if (delivery.kind === "event" && !isSignedHere) report.clockWatch.sawDelivery(delivery.event, verdict.signedAt);
  const route = registry.route(delivery);
  try {
    const { signedAt } = verdict;
    const result = await dispatcher.accept({ id, delivery, route, receivedAt, signedAt, body: raw.body, trace });
    return outcomeOf(result, { id, delivery, route }, report);
  } catch (error) {
    return storeFailure(error, report);
  }
}

/** Refuses by the headers, before the body is read. */
function refuseByHeaders({ method, header }: DeliveryRequest, path: DeliveryPath): Outcome | undefined {
  const { admission, verification, report } = path;
  if (method !== "POST") return { kind: "wrong_method" };
  // The signature covers the bytes as sent, and decompression makes large bodies of small requests.
  if (isEncoded(header("content-encoding"))) return { kind: "unsupported_encoding" };
  const refused = admission.refusal();
  if (refused?.kind === "not_started") {
    report.logger.error({ advice: "Call await receiver.start() before the server listens." }, "not_started");
  }
  if (refused !== undefined) return refused;
  return hasSignatureHeaders(header, verification.rules.assumptions) ? undefined : { kind: "unsigned" };
}

/** An empty header names no encoding; 415 is final, so it is answered only when necessary. */
function isEncoded(contentEncoding: string | undefined): boolean {
  if (contentEncoding === undefined) return false;
  return contentEncoding.split(",").some((encoding) => !["", "identity"].includes(encoding.trim().toLowerCase()));
}

function verify(raw: RawRequest, nowMs: number, { verification }: DeliveryPath): VerifiedOrNot {
  return verifyRequest(raw, verification.secrets.keys, nowMs, verification.rules);
}

function isMismatch(verdict: VerifiedOrNot): boolean {
  return !verdict.ok && verdict.reason === "mismatch";
}

function refusal(verdict: Extract<VerifiedOrNot, { ok: false }>): Outcome {
  switch (verdict.reason) {
    // There is a timestamp header: without either, the request was refused by its headers.
    case "missing_signature":
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

function outcomeOf(
  result: AcceptResult,
  { id: eventId, delivery, route }: { id: string; delivery: Delivery; route: Route },
  { alarms, logger }: Reporting,
): Outcome {
  const { type: eventType, test } = delivery.kind === "event" ? delivery.event : delivery;
  if (result.otherBytes) {
    // Each id is logged, also while the alarm is suppressed.
    logger.warn({ eventId, eventType, kept: result.kind === "stored" }, "other_bytes");
    alarms.raise({ kind: "other_bytes", eventId });
  }
  if (result.kind === "duplicate") return { kind: "duplicate", eventId, otherBytes: result.otherBytes };
  if (route.parked !== undefined) {
    const { reason } = route.parked;
    logger.warn({ eventId, eventType, reason }, "parked");
    return { kind: "parked", eventId, reason };
  }
  if (test && route.handlers.length === 0) logger.info({ eventId, eventType }, "test_event");
  return { kind: "accepted", eventId, eventType };
}

function storeFailure(error: unknown, { alarms }: Reporting): Outcome {
  const { code, message } =
    error instanceof PigeonholeError ? error : { code: "store_failed", message: errorName(error) };
  if (code === "stopped") return { kind: "stopping" };
  alarms.raise({ kind: "store_unavailable", code, message });
  if (code === "store_busy") return { kind: "store_unavailable", reason: "busy" };
  return { kind: "store_unavailable", reason: code === "store_full" ? "full" : "failed" };
}

/** The one place where an outcome becomes an answer. What was refused before it was admitted took no time. */
function answer(
  outcome: Outcome,
  { header }: DeliveryRequest,
  { verification, report, telemetry }: DeliveryPath,
  tookMs = 0,
): Answer {
  try {
    const given = answerFor(outcome, verification.rules.unverified);
    report.answers.look({ outcome, status: given.status, header, tookMs });
    telemetry?.countAnswer(outcome);
    return given;
  } catch (error) {
    report.logger.error(errorFields(error, false), "receive_failed");
    return answerFor({ kind: "internal_error" }, "retry");
  }
}
