/** Sent to an endpoint that names no types. See docs/service.md#event-types. */
export const DEFAULT_EVENT_TYPES = [
  "email.received",
  "email.sent",
  "email.failed",
  "email.cancelled",
  "email.scheduled",
  "email.queued",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.complained",
  "email.suppressed",
  "email.opened",
  "email.clicked",
  "email.downloaded",
] as const;

/** Sent only to an endpoint that names them. See docs/service.md#event-types. */
export const EXPLICIT_EVENT_TYPES = [
  "email.replied",
  "domain.verified",
  "domain.sending_changed",
  "domain.deleted",
  "suppression.added",
  "suppression.removed",
  "file.uploaded",
  "file.deleted",
  "form.submitted",
  "form.confirmed",
] as const;

/** The 24 event types of the service. */
export const EVENT_TYPES = [...DEFAULT_EVENT_TYPES, ...EXPLICIT_EVENT_TYPES] as const;

/** The name of an event type that this version knows, such as `email.bounced`. */
export type EventType = (typeof EVENT_TYPES)[number];

const known: ReadonlySet<string> = new Set(EVENT_TYPES);

/** True when this version of the package knows the event type. */
export function isEventType(type: string): type is EventType {
  return known.has(type);
}
