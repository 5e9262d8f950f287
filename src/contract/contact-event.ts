import { z } from "zod";
import { DAY } from "../base/duration.js";
import { lazy } from "../base/lazy.js";
import { EVENT_LIMITS, EVENT_NAME } from "./event-limits.js";
import { type Checked, type ValidationCode, type ValidationIssue, checkInput } from "./check-input.js";
import { type JsonValue, isJsonValue, jsonSize } from "./json-size.js";
import { readPlainContactEvent } from "./plain-contact-event.js";
import { contactAddress } from "./contact-address.js";
import { textOf, timestamp } from "./shapes.js";

export { EVENT_LIMITS };

/* A receiver loads this and hardly ever needs a schema: nearly every event passes the check by hand. */

/** Name of an event, matched exactly. */
export const eventName = lazy(() =>
  z.string().regex(EVENT_NAME, {
    error: "Must be 1 to 100 letters, digits, dots, colons, dashes or underscores, and begin with a letter or digit.",
  }),
);

/** A value of `properties`. */
export const jsonValue = lazy((): z.ZodType<JsonValue, JsonValue> => z.any());

/** `record` of the schema library would drop the key __proto__ silently. */
const withoutProto = (): z.ZodType<Record<string, JsonValue>, Record<string, JsonValue>> =>
  z
    .any()
    .refine((value: unknown) => typeof value !== "object" || value === null || !Object.hasOwn(value, "__proto__"), {
      error: "Must have no key __proto__.",
    });

const eventProperties = () =>
  withoutProto().pipe(
    z
      .record(z.string(), jsonValue())
      .refine((properties) => Object.keys(properties).length <= EVENT_LIMITS.propertyKeys, {
        error: "Must have at most 50 keys.",
        abort: true,
      })
      .refine((properties) => (jsonSize(properties) ?? Infinity) <= EVENT_LIMITS.propertyBytes, {
        error: "Must have at most 4096 bytes as JSON.",
        abort: true,
      })
      .refine(isJsonValue, { error: "Must hold plain JSON values: no dates, undefined, NaN or class instances." }),
  );

/**
 * An event as it is sent; see docs/service.md#contact-event-fields. The rule about the age of `occurredAt` is {@link
 * checkOccurredAt}.
 */
export const contactEventInput = lazy(() =>
  z
    .strictObject({
      /** What happened, such as `order.shipped`: 1 to 100 letters, digits, `.`, `:`, `-`, `_`. Matched exactly. */
      name: eventName(),
      /** Address of the contact, sent trimmed and in lower case; this or `contactId` is needed. */
      email: contactAddress().optional(),
      /** Id of the contact, 1 to 64 characters; this or `email` is needed. */
      contactId: textOf(1, EVENT_LIMITS.contactIdLength).optional(),
      /** JSON values, at most 50 keys and 4 KB. Filters of automations use them. */
      properties: eventProperties().optional(),
      /** When it happened, ISO 8601 with a zone: not in the future, at most 90 days ago. Default: when it arrives. */
      occurredAt: timestamp().optional(),
      /** Adds an unknown address as a contact; needs `email`. */
      createContact: z.boolean().optional(),
      /** Name for the added contact, at most 200 characters. */
      contactName: textOf(0, EVENT_LIMITS.contactNameLength).optional(),
    })
    .refine(({ email, contactId }) => email !== undefined || contactId !== undefined, {
      path: ["email"],
      error: "An event needs email or contactId.",
      params: { code: "invalid_event" satisfies ValidationCode },
    })
    .refine(({ createContact, email }) => createContact !== true || email !== undefined, {
      path: ["createContact"],
      error: "createContact needs email.",
    }),
);

/** An event to record. */
export type ContactEventInput = z.input<ReturnType<typeof contactEventInput>>;

/** Codes of broken rules by field; see docs/service.md#event-errors. */
export const EVENT_ISSUE_CODES = {
  name: "invalid_event",
  properties: "invalid_event",
  occurredAt: "invalid_event",
} as const satisfies Record<string, ValidationCode>;

/**
 * Checks one event by all rules, including those about the time. The value is a copy in the schema's order. Its
 * `properties` may be the object that was given.
 */
export function checkContactEvent(
  event: unknown,
  nowMs: number,
): Checked<z.output<ReturnType<typeof contactEventInput>>> {
  const plain = readPlainContactEvent(event);
  if (plain !== undefined) return { ok: true, value: plain };
  const checked = checkInput(contactEventInput(), event, EVENT_ISSUE_CODES);
  if (!checked.ok) return checked;
  const issue = checkOccurredAt(checked.value.occurredAt, nowMs);
  return issue === undefined ? checked : { ok: false, issue };
}

/** An event is at most this old, in milliseconds. See docs/service.md#contact-event-fields. */
const OLDEST_EVENT_MS = 90 * DAY;

/**
 * The rule that needs a clock: not in the future, and not more than 90 days old. `undefined` is allowed: the service
 * then uses the time of arrival. The schema checks the format. A value that is not a time passes here.
 */
export function checkOccurredAt(value: string | undefined, nowMs: number): ValidationIssue | undefined {
  if (value === undefined) return undefined;
  const ageMs = nowMs - Date.parse(value);
  const param = "occurredAt";
  if (ageMs < 0) return { code: "invalid_event", param, message: "Must not be in the future." };
  if (ageMs > OLDEST_EVENT_MS) return { code: "invalid_event", param, message: "Must not be more than 90 days old." };
  return undefined;
}
