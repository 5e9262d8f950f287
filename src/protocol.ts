export { SIGNATURE_ASSUMPTIONS, type SignatureAssumptions } from "./protocol/signature-assumptions.js";
export {
  DEFAULT_EVENT_TYPES,
  EVENT_TYPES,
  EXPLICIT_EVENT_TYPES,
  isEventType,
  type EventType,
} from "./protocol/event-types.js";
export { explainSignature } from "./protocol/explain-signature.js";
export type { SignatureExplanation, SignatureFinding } from "./protocol/explanation.js";
export { LIMITS } from "./protocol/limits.js";
export {
  isDeliveredStatus,
  isRetryableStatus,
  MAX_RETRY_SPAN_MS,
  RETRY_SCHEDULE,
  retryDelay,
} from "./protocol/retry-schedule.js";
export { SECRET_SHAPE } from "./protocol/secret.js";
export { signDelivery, type SignDeliveryInput } from "./protocol/sign-delivery.js";
export { verifySignature, type SignatureVerdict, type VerifySignatureInput } from "./protocol/verify-signature.js";
