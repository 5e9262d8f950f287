import { SECOND } from "../base/duration.js";

/** The service's limits around webhook deliveries. */
export const LIMITS = {
  /** The service waits this long, in milliseconds, for an answer. See docs/service.md#delivery. */
  deliveryTimeoutMs: 5 * SECOND,
  /** A delivery signed longer ago, or further ahead, is rejected. Seconds. See docs/service.md#signature. */
  toleranceSeconds: 300,
  /** So many failed deliveries in a row switch the endpoint off. See docs/service.md#endpoint-states. */
  disableAfterFailures: 100,
  /** This answer switches the endpoint off at once, to a test delivery too. See docs/service.md#final-answers. */
  disablingStatus: 410,
  /** Endpoints of a workspace, by default. See docs/service.md#endpoint-limits. */
  endpointsPerWorkspace: 10,
  /** Longest description of an endpoint, in characters. See docs/service.md#endpoint. */
  endpointDescriptionLength: 200,
  /** Most addresses in the allowlist of an endpoint. See docs/service.md#endpoint. */
  addressAllowlistSize: 50,
  /** Most domains in the allowlist of an endpoint. See docs/service.md#endpoint. */
  domainAllowlistSize: 25,
} as const;

/** Whether an answer after so many milliseconds comes when the service has given up; null for none. */
export const isLate = (ms: number | null): boolean => ms !== null && ms >= LIMITS.deliveryTimeoutMs;

/** Longest signature header that is read, in characters; ours. About 80 signatures fit. */
export const MAX_SIGNATURE_HEADER_LENGTH = 4096;
