/** Limits of contact events. See docs/service.md#contact-event-fields. */
export const EVENT_LIMITS = {
  nameLength: 100,
  propertyKeys: 50,
  /** 4 KB, taken as bytes of the JSON in UTF-8. */
  propertyBytes: 4 * 1024,
  contactIdLength: 64,
  contactNameLength: 200,
  batchSize: 100,
  /** Per key; a batch counts as many as it has. */
  eventsPerMinute: 600,
} as const;

/** What a name is made of. See docs/service.md#contact-event-fields. */
export const EVENT_NAME = /^[A-Za-z0-9][A-Za-z0-9.:_-]{0,99}$/;
