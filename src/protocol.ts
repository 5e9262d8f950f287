export {
  ASSUMPTIONS,
  SIGNATURE_ASSUMPTIONS,
  type Assumption,
  type SignatureAssumptions,
  type SignatureEncoding,
  type TimestampPlace,
} from "./protocol/assumptions.js";
export {
  DEFAULT_EVENT_TYPES,
  EVENT_TYPES,
  EXPLICIT_EVENT_TYPES,
  isEventType,
  type EventType,
} from "./protocol/event-types.js";
export { explainSignature } from "./protocol/explain-signature.js";
export type { FindingCode, SignatureExplanation, SignatureFinding } from "./protocol/explanation.js";
export type { HeadersInput } from "./protocol/header-access.js";
export { LIMITS, MAX_SIGNATURE_HEADER_LENGTH } from "./protocol/limits.js";
export type { ParseFailure, UnreadableSignature } from "./protocol/parse-signature.js";
export type { HeaderReader } from "./protocol/raw-request.js";
export {
  isDeliveredStatus,
  isRetryableStatus,
  MAX_RETRY_SPAN_MS,
  RETRY_SCHEDULE,
  retryDelay,
  type RetryDelayInput,
} from "./protocol/retry-schedule.js";
export { SECRET_SHAPE, type Secret } from "./protocol/secret.js";
export { signDelivery, type SignDeliveryInput } from "./protocol/sign-delivery.js";
export type { SignatureHeaderError } from "./protocol/signature-header.js";
export {
  verifySignature,
  type MacVerdict,
  type SignatureVerdict,
  type VerifySignatureInput,
} from "./protocol/verify-signature.js";
