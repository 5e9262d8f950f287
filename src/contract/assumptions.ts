/** One point that the service's documentation leaves open, and what this package assumes. */
export interface ApiAssumption {
  /** Stable name. */
  id: string;
  /** What the service's documentation does not say. */
  notShown: string;
  /** What this package assumes by default. */
  assumed: string;
  /** What to do when the service behaves otherwise. */
  change: string;
}

/** What is open about the API as a whole or about a resource. The rows say what is open about one operation. */
export const GENERAL_ASSUMPTIONS: readonly ApiAssumption[] = [
  {
    id: "credential",
    notShown: "How the credential travels.",
    assumed: "As `Authorization: Bearer <key>`, for API keys and for OAuth access tokens.",
    change: "Option `credential` of createClient: `{ header, prefix }`.",
  },
  {
    id: "key_ids",
    notShown: "How many characters follow the 24 of an API key's id in its token.",
    assumed:
      "In the sandbox some. A token of another shape has an id made from a digest, so that the id never reveals a token.",
    change: "`src/sandbox/access/api-key-registry.ts`.",
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
    notShown:
      "Most fields of a row of the delivery log, the states of an attempt beyond `delivered` and `failed`, the name of the attempt number, and its paging.",
    assumed:
      "Other states pass as they came; a repair reads what is listed as `failed` or `delivered`, and in the sandbox there are only these. `id` identifies the row; `endpointId`, `attempt`, `kind`, `eventId`, `eventType` and `createdAt` are read if present and null otherwise. Paged like every list. `kind` is `event`, `test` or `replay`; where it is missing, a repair looks for earlier attempts of the event, and takes tests for events. The dashboard finds the attempts of an event by `eventId`, and says so where rows have none.",
    change: "Further fields are passed through as they came; `webhookDelivery` in `src/contract/webhook-endpoint.ts`.",
  },
  {
    id: "webhook_activity",
    notShown: "The fields of a row of the activity list, its filters, and who is named when the service acts itself.",
    assumed:
      "`id`, `endpointId`, `kind`, `actor` and `createdAt`, filtered by `since` and `until`. In the sandbox an actor is `@` and a person's name, `API key` and the key's, or null for the service. The rows of a deleted endpoint stay.",
    change: "Further fields are passed through; `webhookActivity` in `src/contract/webhook-endpoint.ts`.",
  },
  {
    id: "webhook_lists",
    notShown: "The rows of the list of event types, and the fields and scope of the statistics.",
    assumed:
      "`type` and `default` for each type. Statistics are of the workspace: `endpoints`, `enabled`, `delivered` and `failed`, each null if missing.",
    change: "Further fields are passed through; `webhookStats` in `src/contract/webhook-endpoint.ts`.",
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
    assumed: "In the header `x-request-id`, if there is one.",
    change: "Option `requestIdHeader` of createClient.",
  },
  {
    id: "retry_after_unit",
    notShown: "The general limit of requests, and whether the API sends Retry-After, and in what unit.",
    assumed:
      "No call waits for a general limit. A 429 to a call that can be repeated is retried after its Retry-After, as in HTTP: whole seconds, or a date. The sandbox has no general limit.",
    change: "`src/base/retry-wait.ts` is the one place that reads it.",
  },
  {
    id: "rate_unit",
    notShown: "How the 600 a minute are measured: which window, and whether refused calls count.",
    assumed:
      "Events, as documented: a batch counts as many as it has. Every attempt counts, a refused one too. 10 a second, of which at most 100 can be saved up, and no more than 600 within any 60 s.",
    change:
      "Option `eventsPerMinute` of createClient. A 429 pauses all sending until its Retry-After in any case, but for at most a minute.",
  },
  {
    id: "versioning",
    notShown: "How the API is versioned.",
    assumed: "By the URL or not at all. Fields, codes and values that are newer pass through.",
    change: "Option `baseUrl` of createClient, or `fetch`, which can add a header.",
  },
  {
    id: "properties_size",
    notShown: "How the 4 KB of `properties` are measured.",
    assumed: "4096 bytes of the compact JSON in UTF-8.",
    change: "`EVENT_LIMITS.propertyBytes` in `src/contract/event-limits.ts`.",
  },
  {
    id: "event_issue_codes",
    notShown: "Which code a broken event gets where two would fit, and `param` where no contact is named.",
    assumed:
      "A missing field or a value of the wrong type is `invalid_parameter`; a rule broken by name, properties or occurredAt, or no contact (param `email`), is `invalid_event`; any other rule is `invalid_parameter`.",
    change: "It concerns only errors found before sending: `EVENT_ISSUE_CODES` in `src/contract/contact-event.ts`.",
  },
  {
    id: "both_contacts",
    notShown: "Whether an event may name both email and contactId.",
    assumed: "It may. In the sandbox both must name one contact, or it is `contact_not_found`.",
    change: "Give one of the two.",
  },
  {
    id: "email_format",
    notShown: "Which addresses count as email format.",
    assumed:
      "A wide rule: one @, no white space, 1 to 64 characters before it, none of them a quotation mark, and 1 to 255 after. The service decides the rest. The address of a contact is sent trimmed and in lower case, as the service keeps it.",
    change: "`emailAddress` in `src/contract/shapes.ts`.",
  },
  {
    id: "key_retention",
    notShown: "How long the service remembers an Idempotency-Key.",
    assumed: "Longer than the retries of one call take; nothing is assumed beyond that.",
    change: "Do not repeat a call days later and rely on its key.",
  },
  {
    id: "refusals",
    notShown:
      "How a missing or wrong key, a switched-off key, an unknown path, a wrong method and an unreadable or large body are refused.",
    assumed:
      "In the sandbox: 401 `unauthorized`, 403 `inactive_api_key`, 404 `resource_not_found`, 405 `method_not_allowed`, 400 `invalid_parameter`, 413 `request_too_large`. The key is checked first, then path, scope, query, header and body.",
    change: "Nothing in a client, which uses the status. The sandbox: `src/sandbox/calls/create-api.ts`.",
  },
  {
    id: "malformed_id",
    notShown: "What an id of the wrong shape in a path is answered.",
    assumed: "In the sandbox: 404, as for an unknown id. The client refuses it before sending.",
    change: "`checkParams` in `src/sandbox/calls/read-input.ts`.",
  },
  {
    id: "same_event",
    notShown: "When a resent event counts as the same, and what its answer says about automations.",
    assumed:
      "In the sandbox: when it is equal as JSON, field by field as sent, the address trimmed and in lower case. An omitted `occurredAt` equals only an omitted one. The answer repeats what the first one said in `enrolled` and `resumed`.",
    change: "Resend what was sent. The sandbox: `src/sandbox/contact-events/remembered-sends.ts`.",
  },
  {
    id: "key_space",
    notShown: "Whether API keys share their idempotency keys, and whether an event and a batch do.",
    assumed:
      "In the sandbox neither: a key belongs to one API key, and to a single event or to one position of a batch. A refused event is not remembered. Keys are kept for 90 days, like the events.",
    change: "Use no key twice. The sandbox: `src/sandbox/contact-events/remembered-sends.ts`.",
  },
  {
    id: "check_order",
    notShown: "What is checked first, and so which error is answered where several apply.",
    assumed:
      "In the sandbox credential, path, scope, query, header, body, reach, existence, capability and limit. A client decides nothing by it.",
    change: "`CHECKS` in `src/sandbox/calls/checks.ts`.",
  },
  {
    id: "rate_window",
    notShown:
      "Over which time window the service counts the 600 events, and whether replayed, refused or failed ones count.",
    assumed:
      "The sandbox takes no more than 600 in any 60 s, the strictest reading. Every event that is stored counts, a replayed one too, and each of a batch, failed ones too; a call that is refused counts nothing.",
    change: "Option `eventsPerMinute` of the sandbox, and `src/sandbox/calls/event-rate.ts`.",
  },
  {
    id: "batch_issues",
    notShown: "Which broken rules of an event refuse its whole batch.",
    assumed:
      "In the sandbox: everything but `invalid_event`, which fails the one event. Events that fail for their contact or key fail alone too.",
    change: "`readBody` in `src/sandbox/calls/read-input.ts`.",
  },
  {
    id: "automation_shape",
    notShown: "What filters of automations look like, and which waits an event ends.",
    assumed:
      "In the sandbox: a filter is a property with a value, and all must be equal. An event first ends the waits of its contact for its name, and then enrolls the contact.",
    change: "`src/sandbox/contact-events/automations.ts`.",
  },
  {
    id: "event_lists",
    notShown: "Whether events of test keys are listed, and which of their times starts the 90 days.",
    assumed:
      "In the sandbox every key reads every event. One is held for 90 days after `createdAt`, and listed with its contact for 90 days after `occurredAt`.",
    change: "`src/sandbox/contact-events/event-log.ts`.",
  },
  {
    id: "disabled_retries",
    notShown: "What happens to planned retries when their endpoint is switched off, and whether the log shows them.",
    assumed:
      "In the sandbox they are dropped, and nothing is logged for them. The failed attempts before stay in the log and can be replayed.",
    change:
      'Option `retriesOfDisabled: "kept"` of createSandbox: a retry that comes due while the endpoint is on is sent.',
  },
  {
    id: "disabled_events",
    notShown:
      "Whether the delivery log has rows of events that were fired while their endpoint was off, and whether those can be replayed; they are never delivered later.",
    assumed:
      "In the sandbox it has none. The repair of an endpoint replays every failed row that the log has, and says when the endpoint was off.",
    change: 'Option `eventsOfDisabled: "logged"` of createSandbox: each has a failed row, which can be replayed.',
  },
  {
    id: "replay_rules",
    notShown: "What can be replayed, how often it is tried, and what it changes.",
    assumed:
      "In the sandbox: a row that failed. It is tried once, with the same bytes and a new signature, as attempt 1 of a new delivery. It counts like any attempt and does not change planned retries. A delivered row, and an endpoint that is off, are 422 `invalid_parameter`.",
    change: "`src/sandbox/delivery/deliver-once.ts`.",
  },
  {
    id: "aged_resend",
    notShown: "Whether a resend under a known key is looked up before or after its event is checked by age.",
    assumed:
      "In the sandbox after: an event that has become 90 days old since a lost answer is `invalid_event`, although it is stored. A call that is repeated so late may end as `dead` although it took effect.",
    change: "`src/sandbox/calls/create-api.ts` has the order.",
  },
  {
    id: "member_events",
    notShown: "Whether a member's app that reaches only some addresses, and so no contacts, may record contact events.",
    assumed:
      "In the sandbox it may not: 422 `capability_unsupported` on `addressAllowlist`, as for every route of contacts. The names of events are open to it.",
    change: "`closedToSome` in `src/contract/contact-events.ts`.",
  },
  {
    id: "narrowed_writes",
    notShown:
      "Whether a key with an allowlist may rotate the secret of an endpoint that covers more than the key, test it, or replay to it.",
    assumed:
      "In the sandbox it may test and replay, since that reveals nothing. Rotation is refused with `capability_unsupported` on `addressAllowlist`, as a change is.",
    change: "`rotateSecret` in `src/sandbox/endpoints/endpoint-registry.ts`.",
  },
  {
    id: "retry_target",
    notShown: "Where a retry goes when the endpoint's URL or secret has changed since, and which other headers it has.",
    assumed:
      "In the sandbox: to the URL and with the secret at the time of the retry. Beside the signature it has `content-type: application/json` and a `user-agent`. A receiver uses neither.",
    change: "`src/sandbox/delivery/attempt-sender.ts`.",
  },
  {
    id: "delivery_log_order",
    notShown: "How the delivery log is ordered, and which time `since` and `until` compare.",
    assumed:
      "In the sandbox newest first, by when the attempt began; `since` includes its moment, `until` does not. The dashboard takes rows in any order, from up to 55 hours before and after an event was stored.",
    change: "`src/sandbox/webhooks-handlers.ts`.",
  },
  {
    id: "event_addresses",
    notShown: "Which field of an event holds the address that allowlists compare.",
    assumed:
      "In the sandbox: `from` of outgoing mail; `to` and `cc` of `email.received` and `email.replied`; `deliveredTo` of `file.*`. A file without one, and events of all other kinds, `domain.*` included, name no address.",
    change: "Option `address` of `sandbox.emit`; `addressesOf` in `src/sandbox/endpoints/receives-event.ts`.",
  },
  {
    id: "refused_target",
    notShown: "Whether an attempt that is not sent, since the name leads to a private address, is tried again.",
    assumed: "In the sandbox: yes, as one without an answer. So is one whose host name is not found.",
    change: "`src/sandbox/delivery/resolve-target.ts`.",
  },
  {
    id: "answer_begins",
    notShown: "Whether a receiver has answered with the status line or with the end of the body.",
    assumed: "In the sandbox: with the status line; the body is not read.",
    change: "Answer with a short body.",
  },
  {
    id: "creation_status",
    notShown: "With which status a creation succeeds, where the documentation names only what is answered.",
    assumed: "201 in the sandbox. The client takes any 2xx.",
    change: "`status` of the row in `src/contract/`.",
  },
  {
    id: "label_palette",
    notShown: "The colors of the palette of labels, and what a gradient with another name is answered.",
    assumed:
      "In the sandbox the names and values are made up, and another gradient is 422 `invalid_parameter` on `color.backgroundColor`.",
    change: "`src/sandbox/resources/label-palette.ts`.",
  },
  {
    id: "label_rules",
    notShown:
      "What a name longer than allowed is answered, and how many conversations carry a label that the API made.",
    assumed:
      "422 `invalid_parameter` on `name`. In the sandbox none: no documented operation attaches a label to a conversation.",
    change: "`src/sandbox/resources/labels.ts`.",
  },
  {
    id: "signature_rules",
    notShown:
      "How HTML is cleaned, what an address of another workspace is answered, and how a copy is told when one address is full.",
    assumed:
      "In the sandbox scripts, frames, forms, event attributes and script URLs are removed. A foreign address is 422 `invalid_parameter`. A full address ends the copy, and the earlier ones keep theirs, as documented; the answer names no address.",
    change: "`src/sandbox/resources/signatures.ts` and `src/sandbox/resources/signatures.ts`.",
  },
  {
    id: "contact_rules",
    notShown:
      "Which spellings are close, which mail moves `lastSeenAt`, whose rows come first at equal times, and what else hides a person.",
    assumed:
      "In the sandbox one letter of every three of a word may differ, two at most, and each word of the search needs a word like it. `email.received` and `email.replied` count for their sender, `email.sent` for its recipients, with the names that stand before the addresses; equal times are sorted by address. The option `blocklist` blocks.",
    change: "`src/sandbox/resources/contacts.ts` and `src/sandbox/resources/search-text.ts`.",
  },
  {
    id: "draft_answers",
    notShown: "The body of the answer to the deletion of a draft, and the name of the token in a page of drafts.",
    assumed: "A tombstone, or none with status 204; and `nextCursor` or `pageToken`, which goes back as `pageToken`.",
    change: "`src/contract/drafts.ts`.",
  },
  {
    id: "draft_rules",
    notShown:
      "Which conversations a draft may name, what a comma in a name does, which filler words a search drops, whether a word is found by its beginning, and how an age is written.",
    assumed:
      "In the sandbox any; only a forwarded message must be known, from an event. A comma separates two recipients. A dozen short words are dropped, and a beginning finds a word, here and in names of files; ages are such as `12h`, `7d`, `2m` and `1y`, dates such as 2026-01-31.",
    change: "`src/sandbox/resources/drafts.ts` and `src/sandbox/resources/draft-search.ts`.",
  },
  {
    id: "file_fields",
    notShown:
      "The names of most fields of a file, of a link and of the statistics of files, and of the answer of a batch.",
    assumed:
      "`filename`, `contentType`, `size`, `threadId`, `messageId` and `createdAt` of a file, as in its events; `fetchCount`, `lastFetchedAt` and `createdAt` of a link. Each is null if missing. `deleted` and `missing` are lists of ids.",
    change: "Further fields are passed through as they came; `src/contract/files.ts`.",
  },
  {
    id: "file_rules",
    notShown:
      "How many bytes 100 MB are, what a larger upload is answered, which files are programs, which domains have a files host, and the bytes of an attachment.",
    assumed:
      "104,857,600. In the sandbox a larger upload is 413 `request_too_large`, and one over the option `maxFileBytes` 422 `workspace_limit_reached`. Programs are known by extension and type. A domain of the workspace has the files host `files.` and its name, which leads nowhere, and any other has none. Links are served at the address of the API. An attachment of an event has made-up bytes, as many as the event says.",
    change: "`FILE_LIMITS` in `src/contract/files.ts`, and `src/sandbox/resources/file-store.ts`.",
  },
  {
    id: "chat_rules",
    notShown: "The kinds of chats, and what renaming one does to `updatedAt`, by which the newest are first.",
    assumed:
      "In the sandbox chats come from the option `chats`, of the kind `assistant`. A new title leaves `updatedAt`.",
    change: "`src/sandbox/resources/chats.ts`.",
  },
  {
    id: "sending_rules",
    notShown:
      "The unit of the rates, the fields of `limits`, how many recipients are enough to pause a lane, the texts of `pausedReason`, and the pools of dedicated IPs.",
    assumed:
      "Rates from 0 to 1. In the sandbox 100 recipients, `bounceRate`, `complaintRate` and `minRecipients`, and `bounce-rate` or `complaint-rate`. Events that name a `stream` count: the recipients of `email.sent`, and that of `email.delivered`, `email.bounced` and `email.complained`, each once for a message and for 7 days after the last event. A resume clears `pausedAt`. Another stream than `broadcast` is 404. An IP is warm after 30 days.",
    change:
      "Options `pauseAfterRecipients` and `dedicatedIps` of createSandbox; `src/sandbox/resources/sending-lanes.ts`.",
  },
  {
    id: "tools_reports",
    notShown:
      "The shape of `tags` and `notes`, how a domain's organisation is found, the texts of issues and verdicts, and how score, grade and provider come about.",
    assumed:
      "`tags` by name, `notes` a list of texts; other shapes are read too. In the sandbox the shortest parent in the table is the organisation, and a domain that is not in it has no records. MX counts 20, SPF, DKIM and DMARC 25 each, BIMI 5, a warning half; A begins at 90, B at 80, and so on.",
    change:
      "Option `domainRecords` of createSandbox, `setDomainRecords`; `src/sandbox/resources/check-deliverability.ts`.",
  },
  {
    id: "mailbox_scopes",
    notShown: "Which scope each operation on connected mailboxes needs.",
    assumed: "`connections:read` to list and read, `settings:write` for everything else.",
    change: "Nothing to change in a client: the service checks it. Give the key the scope that the error asks for.",
  },
  {
    id: "mailbox_rules",
    notShown:
      "The values of `provider` and `method`, who `connectedBy` names, the limits of look-ups and of addresses, what a paused mailbox that needs a sign-in is answered, how a failing one becomes active again, and what happens to a paused one with a new password.",
    assumed:
      "In the sandbox `method` is the `signIn` of a discovery, and `connectedBy` `@owner` or a member. 60 look-ups an hour, then 429 `mailbox_checks_limited`; 100 addresses. Pausing or resuming is 422 `invalid_parameter` on `paused`. A failing mailbox is synced every 15 minutes, and active again after one that works. A paused one stays paused. An API key signs in as the owner, and a narrowed one reaches every mailbox. Other ports than the documented ones are 422.",
    change:
      "Options `mailServers`, `mailLookUpsPerHour` and `maxAddresses` of createSandbox; `src/sandbox/resources/mailboxes.ts`.",
  },
  {
    id: "form_inputs",
    notShown: "What updates and copies of a form take, the analytics of a form, and how submissions are managed.",
    assumed:
      "An update takes the fields of a creation and `expectedUpdatedAt`, a copy `name`. Analytics and submissions are left out.",
    change: "`src/contract/form.ts`.",
  },
  {
    id: "form_rules",
    notShown:
      "The names of the 15 keys of a field, the documents of the starters, the title of a document without one, the statuses beyond draft and live, the words for wrong answers, the tokens in `svc_started`, and the shape and life of confirmation links.",
    assumed:
      "In the sandbox made up, the name of the form, `paused`, `required` or the field's type, any token drops a sign-up as a bot's, and `sandbox.confirmSignUp` opens the link. All calls in one process come from one network address, a day of confirmation emails is one of UTC, and any link that a form emailed to an address confirms. An unsubscription is not emulated.",
    change: "`src/sandbox/resources/form-document.ts`, `forms.ts` and `sign-ups.ts` beside it.",
  },
  {
    id: "api_key_rows",
    notShown:
      "The fields of who made or changed a key, of a row of the request log and of the activity, and which of the two lists of a key are null.",
    assumed:
      "`type`, `id` and `name` of an actor; `keyId`, `keyName`, `method`, `path`, `status`, `errorCode`, `durationMs`, `ip`, `userAgent` and `createdAt` of a request; `keyId`, `keyName`, `kind` and `createdAt` of an activity, whose `detail.source` is `api`, or `app` for what was done by hand. Each is null if missing. In the sandbox an empty list is null.",
    change: "Further fields are passed through as they came; `src/contract/keys.ts`.",
  },
  {
    id: "api_key_states",
    notShown:
      "How a call with an expired key is answered, with which status the rotation of a revoked or expired key is refused, and what an expired key can be changed in.",
    assumed:
      "In the sandbox 401, as for a revoked one; 409 `revoked` for both; and everything. A key expires on the sandbox's clock. An access token has no key of its own to rotate: 404 `resource_not_found`.",
    change: "`src/sandbox/resources/keys.ts` and `src/sandbox/calls/authenticate.ts`.",
  },
  {
    id: "api_key_cap",
    notShown: "How many live keys a workspace may have, and which keys count.",
    assumed: "In the sandbox 100, of those that are neither revoked nor expired.",
    change: "Option `maxApiKeys` of createSandbox.",
  },
  {
    id: "api_key_reach",
    notShown:
      "Which code an address or domain of another workspace gets, whether it is checked before the reach, and what a key may change of itself while its role narrows it.",
    assumed:
      "In the sandbox 422 `invalid_parameter` on the entry, before the reach. A change of the key itself is checked in the fields that are sent: its scopes must be held after the role, and its lists lie inside the present ones.",
    change: "`src/sandbox/resources/keys.ts` and `src/sandbox/access/reach.ts`.",
  },
  {
    id: "role_permissions",
    notShown:
      "What the roles that a workspace begins with allow, the order of the permissions, their labels and groups, and whether `automations:read` is one.",
    assumed:
      "In the sandbox made up: the owner has all, and the others what their names suggest. The order is that of the documented groups. `automations:read` is a permission.",
    change: "`src/sandbox/access/permissions.ts`.",
  },
  {
    id: "role_rules",
    notShown:
      "Whether what a permission implies must be held too, whether the owner counts as a member of its role, and whether the target of a deletion may be wider than the caller.",
    assumed: "In the sandbox it must, the owner does not, and the target may.",
    change: "`src/sandbox/resources/roles.ts`.",
  },
  {
    id: "callers",
    notShown:
      "How an access token looks, what caps that of a member, whether it is asked for a code to make or rotate a key, and whether `owner_only` comes before the scope.",
    assumed:
      "In the sandbox `svc_app_` and hex digits; the member's role, at every call; it is not; and it does. A contact that another person added does not exist for a member's app, which deletes nothing of it and cannot add it again.",
    change: "`src/sandbox/access/sandbox-callers.ts` and `src/sandbox/calls/authenticate.ts`.",
  },
  {
    id: "owned_addresses",
    notShown: "Whether the entries of `domainAllowlist` must belong to the workspace, as those of `addressAllowlist`.",
    assumed: "In the sandbox they need not. Every address of an owned domain counts as owned.",
    change: "Options `addresses` and `domains` of createSandbox.",
  },
];
