import { z } from "zod";
import {
  EVENT_ISSUE_CODES,
  EVENT_LIMITS,
  checkOccurredAt,
  contactEventInput,
  eventName,
  jsonValue,
} from "./contact-event.js";
import type { ValidationIssue } from "./check-input.js";
import type { Resource } from "./operation.js";
import { pageOf, pageQuery } from "./paging.js";
import { createRows } from "./create-rows.js";
import { nullable, openEnum, pathSegment } from "./shapes.js";

/** A recorded event; see docs/service.md#contact-event-results. */
const contactEvent = z.looseObject({
  object: z.string().default("contact_event"),
  id: z.string(),
  contactId: z.string(),
  /** The contact's address. */
  email: nullable(z.string()),
  name: z.string(),
  properties: z.record(z.string(), jsonValue()).default({}),
  occurredAt: z.string(),
  createdAt: z.string(),
  /** A test key stores the event and starts nothing. */
  mode: openEnum(["live", "test"]),
});

/** The answer to a sent event; see docs/service.md#contact-event-results. */
const contactEventResult = z.looseObject({
  ...contactEvent.shape,
  /** True when the key was known: the answer is the stored event, and nothing was started. */
  replayed: z.boolean().default(false),
  /** Ids of the automations that enrolled the contact. */
  enrolled: z.array(z.string()).default([]),
  /** Waits that ended. */
  resumed: z.int().min(0).default(0),
});

/** The answer to a batch: every event is in one of the two lists, under its position in the request. */
const contactEventBatch = z.looseObject({
  object: z.string().default("contact_event_batch"),
  accepted: z.array(z.looseObject({ ...contactEventResult.shape, index: z.int().min(0) })),
  failed: z.array(
    z.looseObject({
      index: z.int().min(0),
      code: openEnum(["invalid_event", "contact_not_found", "idempotency_key_reuse"]),
      message: z.string().default(""),
    }),
  ),
});

const eventNames = z
  .looseObject({ data: z.array(z.looseObject({ name: z.string() })) })
  .transform(({ data }) => data.map(({ name }) => name));

/** How a contact is named in a path: the address, compared without case, or the contact's id. */
const contactReference = pathSegment(320);

const input = {
  name: "order.shipped",
  email: "ada@customer.example.com",
  properties: { order: "1042", total: 59.9 },
  occurredAt: "2026-01-31T09:30:00Z",
};

/** What the two calls that send have in common. */
const sends = { closedToSome: "members", retry: "with-key", issueCodes: EVENT_ISSUE_CODES } as const;
const rows = createRows({ all: "/events", scopes: ["contacts:read", "contacts:write"] });

/** Contact events: they start automations and end waits. See docs/service.md#contact-event-api. */
export const contactEvents = {
  /** Records one event of a contact. */
  send: rows.create(contactEventResult, {
    doc: "Records one event of a contact.",
    ...sends,
    body: contactEventInput(),
    events: "one",
    errors: ["contact_not_found", "invalid_event", "idempotency_key_reuse"],
    clockRule: ({ occurredAt }: { occurredAt?: string | undefined }, nowMs: number): ValidationIssue | undefined =>
      checkOccurredAt(occurredAt, nowMs),
    example: { body: input },
  }),
  /** Records 1 to 100 events in order; one that fails does not stop the rest. */
  sendBatch: rows.act("/events/batch", contactEventBatch, {
    doc: "Records 1 to 100 events in order; one that fails does not stop the rest.",
    ...sends,
    body: z.strictObject({
      events: z
        .array(contactEventInput())
        .min(1, { error: "Must hold 1 to 100 events." })
        .max(EVENT_LIMITS.batchSize, { error: "Must hold 1 to 100 events." })
        .readonly(),
    }),
    argument: "events",
    events: "each",
    example: { body: { events: [input, { ...input, email: "nobody@customer.example.com" }] } },
  }),
  /** Lists the distinct names of the stored events, in byte order, at most 100. */
  names: rows.read("/events/names", eventNames, {
    doc: "Lists the distinct names of the stored events, in byte order, at most 100.",
    scope: "automations:read",
  }),
  /** Lists the events of a contact, named by address or id, most recent first. */
  list: rows.list(pageOf(contactEvent), {
    doc: "Lists the events of a contact, named by address or id, most recent first.",
    path: "/contacts/{email}/events",
    closedToSome: "members",
    params: z.strictObject({ email: contactReference }),
    missing: "contact_not_found",
    query: z.strictObject({
      /** Only events of this name. */
      name: eventName().optional(),
      ...pageQuery({ max: 200, byDefault: 50 }),
    }),
    example: { params: { email: input.email }, query: { name: "order.shipped", limit: 200 } },
  }),
} as const satisfies Resource;
