/** One point that the documents leave open, and what this package does about it. */
export interface ApiAssumption {
  /** Stable name. */
  id: string;
  /** What the documents do not say. */
  notShown: string;
  /** What is taken for true by default. */
  assumed: string;
  /** What to do when the service behaves otherwise. */
  change: string;
}

/** Every point about the API that the seeds leave open and this package relies on. */
export const API_ASSUMPTIONS: readonly ApiAssumption[] = [
  {
    id: "credential",
    notShown: "How the credential travels.",
    assumed: "As `Authorization: Bearer <key>`, for API keys and OAuth access tokens alike.",
    change: "Option `credential` of createClient: `{ header, prefix }`.",
  },
  {
    id: "webhook_paths",
    notShown: "The paths of secret rotation, the delivery log and replay.",
    assumed:
      "POST /webhooks/{id}/rotate-secret, GET /webhooks/{id}/deliveries and POST /webhooks/{id}/deliveries/{deliveryId}/replay.",
    change: 'Option `paths` of createClient, such as `{ webhooks: { rotateSecret: "/webhooks/{id}/rotate" } }`.',
  },
  {
    id: "webhook_scopes",
    notShown: "Which scope each operation on webhook endpoints needs.",
    assumed: "`webhooks:read` to list and read, the delivery log included, `webhooks:write` for everything else.",
    change: "Nothing to change in a client: the service checks it. Give the key the scope that the error asks for.",
  },
  {
    id: "list_rows",
    notShown: "The wire name of the row array in lists of webhook endpoints and deliveries.",
    assumed: "`data`, as for contact events; `items` is read too.",
    change: "`pageOf` in `src/contract/paging.ts`.",
  },
  {
    id: "delivery_rows",
    notShown: "Most fields of a row of the delivery log, the name of the attempt number, and its paging.",
    assumed:
      "`id` identifies the row; `attempt`, `eventId`, `eventType` and `createdAt` are read where they are there, and null otherwise. Paged as every list.",
    change: "Further fields are passed through as they came; `webhookDelivery` in `src/contract/webhook-endpoint.ts`.",
  },
  {
    id: "replay_answer",
    notShown: "The answer to a replay.",
    assumed: "Like that of a test: `delivery` says how the attempt went, or is null.",
    change: "Further fields are passed through; `webhookReplay` in the same file.",
  },
  {
    id: "error_body",
    notShown: "The full error body.",
    assumed: "`code`, `message` and `param` at the top level or under `error`. Without a code it is `unknown_error`.",
    change: "`readErrorBody` in `src/contract/error-body.ts`.",
  },
  {
    id: "request_id",
    notShown: "Whether an answer names the request.",
    assumed: "In the header `x-request-id`, where there is one.",
    change: "Option `requestIdHeader` of createClient.",
  },
  {
    id: "retry_after_unit",
    notShown: "Whether the API sends Retry-After, and in what unit.",
    assumed: "As in HTTP: whole seconds, or a date.",
    change: "`src/client/retry-after.ts` is the one place that reads it.",
  },
  {
    id: "rate_unit",
    notShown: "How the 600 a minute are measured: which window, and whether refused calls count.",
    assumed:
      "Events, as documented: a batch counts as many as it has. Every attempt counts, a refused one too. 10 a second, of which at most 100 can be saved up.",
    change: "Option `eventsPerMinute` of createClient. A 429 pauses all sending until its Retry-After in any case.",
  },
  {
    id: "properties_size",
    notShown: "How the 4 KB of `properties` are measured.",
    assumed: "4096 bytes of the compact JSON in UTF-8.",
    change: "`EVENT_LIMITS.propertyBytes` in `src/contract/contact-event.ts`.",
  },
  {
    id: "event_fault_codes",
    notShown: "Which code a broken event gets where two would fit, and `param` where no contact is named.",
    assumed:
      "A missing field or a value of the wrong type is `invalid_parameter`; a rule broken by name, properties or occurredAt, or no contact (param `email`), is `invalid_event`; any other rule is `invalid_parameter`.",
    change: "It concerns only errors found before sending: `EVENT_FAULT_CODES` in `src/contract/contact-event.ts`.",
  },
  {
    id: "both_contacts",
    notShown: "Whether an event may name both email and contactId.",
    assumed: "It may.",
    change: "Give one of the two.",
  },
  {
    id: "email_format",
    notShown: "Which addresses count as email format.",
    assumed:
      "A wide rule: one @, no white space, 1 to 64 characters before it and 1 to 255 after. The service decides the rest.",
    change: "`emailAddress` in `src/contract/shapes.ts`.",
  },
  {
    id: "key_retention",
    notShown: "How long the service remembers an Idempotency-Key.",
    assumed: "Longer than the retries of one call take; nothing is assumed beyond that.",
    change: "Do not repeat a call days later under the hope that its key is still known.",
  },
];
