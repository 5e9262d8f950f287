import { z } from "zod";
import {
  EVENT_ISSUE_CODES,
  contactEvent,
  contactEventBatch,
  contactEventBatchInput,
  contactEventInput,
  contactEventResult,
  contactReference,
  eventName,
} from "./contact-event.js";
import type { ValidationIssue } from "./check-input.js";
import { checkOccurredAt } from "./occurred-at.js";
import type { Resource } from "./operation.js";
import { pageOf, pageQuery } from "./paging.js";

const exampleInput = {
  name: "order.shipped",
  email: "ada@customer.example.com",
  properties: { order: "1042", total: 59.9 },
  occurredAt: "2026-01-31T09:30:00Z",
};

const exampleEvent = {
  object: "contact_event",
  id: "65b8f0a2c4d6e8f001234567",
  contactId: "65b8f0a2c4d6e8f0089abcde",
  ...exampleInput,
  createdAt: "2026-01-31T09:30:02Z",
  mode: "live",
};

const exampleResult = { ...exampleEvent, replayed: false, enrolled: ["65b8f0a2c4d6e8f00fedcba9"], resumed: 1 };

const writeErrors = [
  "invalid_idempotency_key",
  "insufficient_scope",
  "capability_unsupported",
  "unknown_parameter",
  "event_rate_limited",
] as const;

/** Contact events: they start automations and end waits. See docs/service.md#contact-event-api. */
export const contactEvents = {
  /** Records one event of a contact. */
  send: {
    method: "POST",
    path: "/events",
    scope: "contacts:write",
    closedToSome: "members",
    body: contactEventInput,
    status: [201, 200],
    result: contactEventResult,
    retry: "with-key",
    events: "one",
    errors: [...writeErrors, "contact_not_found", "invalid_event", "invalid_parameter", "idempotency_key_reuse"],
    issueCodes: EVENT_ISSUE_CODES,
    clockRule: ({ occurredAt }: { occurredAt?: string | undefined }, nowMs: number): ValidationIssue | undefined =>
      checkOccurredAt(occurredAt, nowMs),
    doc: "Records one event of a contact.",
    example: { body: exampleInput, result: exampleResult },
  },
  /** Records 1 to 100 events in order; one that fails does not stop the rest. */
  sendBatch: {
    method: "POST",
    path: "/events/batch",
    scope: "contacts:write",
    closedToSome: "members",
    body: contactEventBatchInput,
    argument: "events",
    status: [200],
    result: contactEventBatch,
    retry: "with-key",
    events: "each",
    errors: [...writeErrors, "invalid_parameter"],
    issueCodes: EVENT_ISSUE_CODES,
    doc: "Records 1 to 100 events in order; one that fails does not stop the rest.",
    example: {
      body: { events: [exampleInput, { ...exampleInput, email: "nobody@customer.example.com" }] },
      result: {
        object: "contact_event_batch",
        accepted: [{ ...exampleResult, index: 0 }],
        failed: [{ index: 1, code: "contact_not_found", message: "No contact has this address." }],
      },
    },
  },
  /** Lists the distinct names of the stored events, in byte order, at most 100. */
  names: {
    method: "GET",
    path: "/events/names",
    scope: "automations:read",
    status: [200],
    result: z
      .looseObject({ data: z.array(z.looseObject({ name: z.string() })) })
      .transform(({ data }) => data.map(({ name }) => name)),
    retry: "safe",
    errors: ["insufficient_scope"],
    doc: "Lists the distinct names of the stored events, in byte order, at most 100.",
    example: {
      result: { object: "list", data: [{ object: "contact_event_name", name: "order.shipped" }] },
    },
  },
  /** Lists the events of a contact, named by address or id, most recent first. */
  list: {
    method: "GET",
    path: "/contacts/{email}/events",
    scope: "contacts:read",
    closedToSome: "members",
    params: z.strictObject({ email: contactReference }),
    query: z.strictObject({
      /** Only events of this name. */
      name: eventName.optional(),
      ...pageQuery({ max: 200, byDefault: 50 }),
    }),
    status: [200],
    result: pageOf(contactEvent),
    paged: true,
    retry: "safe",
    errors: [
      "insufficient_scope",
      "capability_unsupported",
      "contact_not_found",
      "invalid_cursor",
      "invalid_parameter",
      "unknown_parameter",
    ],
    issueCodes: { cursor: "invalid_cursor" },
    doc: "Lists the events of a contact, named by address or id, most recent first.",
    example: {
      params: { email: "ada@customer.example.com" },
      query: { name: "order.shipped", limit: 200 },
      result: { object: "list", data: [exampleEvent], hasMore: false, nextCursor: null },
    },
  },
} as const satisfies Resource;
