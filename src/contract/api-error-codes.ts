/** A code of the service's errors. */
interface ApiErrorRow {
  /** The HTTP statuses that it has; the first is the usual one. */
  readonly status: readonly [number, ...number[]];
  /** When it is answered. */
  readonly meaning: string;
}

/** Every code that the service's documentation names, by status. See docs/service.md#errors. */
export const API_ERROR_CODES = {
  invalid_cursor: { status: [400], meaning: "The list did not hand out this cursor." },
  invalid_idempotency_key: { status: [400], meaning: "The idempotency key has other characters, or over 255." },
  mailbox_address_invalid: { status: [400], meaning: "The address of the mailbox cannot be used." },
  mailbox_login_failed: { status: [400], meaning: "The mailbox's server refused the sign-in." },
  connected_mailbox_send_sign_in_failed: { status: [400], meaning: "The sending server refused the sign-in." },
  mailbox_settings_unknown: { status: [400], meaning: "No server was found for the address; name one." },
  connected_mailbox_send_server_unknown: { status: [400], meaning: "No sending server was found; name one." },
  mailbox_uses_vendor: { status: [400], meaning: "The mailbox is connected by its vendor's sign-in, in the app." },
  connected_mailbox_domain_hosted: { status: [400], meaning: "Mail of this domain comes to the service already." },
  connected_mailbox_no_password: { status: [400], meaning: "A mailbox of a vendor's sign-in has no password." },
  insufficient_scope: { status: [403], meaning: "The key lacks the scope." },
  inactive_api_key: { status: [403], meaning: "The key is switched off; the status is assumed." },
  beyond_caller_authority: { status: [403], meaning: "The key would reach further than its maker." },
  owner_only: { status: [403], meaning: "Only the workspace's owner may do this." },
  insufficient_authority: { status: [403], meaning: "The caller does not hold the permission, or nobody can." },
  step_up_required: { status: [403], meaning: "The app must verify a code first." },
  resource_not_found: { status: [404], meaning: "It does not exist, or the key does not see it." },
  contact_not_found: { status: [404], meaning: "The contact does not exist or cannot be reached." },
  role_not_found: { status: [404, 422], meaning: "The role does not exist; 422 for a key's role." },
  connected_mailbox_not_found: { status: [404], meaning: "The connected mailbox does not exist." },
  form_not_found: { status: [404], meaning: "The form does not exist, or was never published." },
  form_starter_not_found: { status: [404], meaning: "No starter has this slug." },
  audience_not_found: { status: [404], meaning: "The audience does not exist or cannot be reached." },
  revoked: { status: [409], meaning: "The key is revoked and cannot be changed." },
  not_revoked: { status: [409], meaning: "Only a revoked key can be deleted." },
  role_name_taken: { status: [409], meaning: "Another role has this name." },
  role_immutable: { status: [409], meaning: "The owner role cannot be changed or given." },
  role_undeletable: { status: [409], meaning: "The owner role cannot be deleted." },
  role_in_use: { status: [409], meaning: "Members, keys or invitations hold the role; name another for them." },
  stream_not_paused: { status: [409], meaning: "The lane is not paused." },
  connected_mailbox_already_connected: { status: [409], meaning: "The mailbox is connected already." },
  connected_mailbox_connected_elsewhere: { status: [409], meaning: "Another workspace has connected the mailbox." },
  signature_name_taken: { status: [409], meaning: "Another signature of the address has this name." },
  label_name_taken: { status: [409], meaning: "Another label has this name or the id made from it." },
  contact_exists: { status: [409], meaning: "There is a contact with this address." },
  form_closed: { status: [409], meaning: "The form is paused and takes no sign-ups." },
  version_conflict: { status: [409], meaning: "The form was saved since it was read." },
  file_in_use: { status: [409], meaning: "Something depends on the file." },
  ai_not_configured: { status: [409], meaning: "The workspace has no AI actions." },
  invalid_parameter: { status: [422, 400], meaning: "A value breaks a rule; 400 for a date that cannot be read." },
  unknown_parameter: { status: [422], meaning: "There is no such parameter." },
  workspace_limit_reached: { status: [422], meaning: "The workspace has as many as it may." },
  role_limit_reached: { status: [422], meaning: "The workspace has 24 roles of its own." },
  signature_limit_reached: { status: [422], meaning: "The address has 50 signatures." },
  label_limit_reached: { status: [422], meaning: "The workspace has 50 labels of its own." },
  invalid_webhook_url: { status: [422], meaning: "The URL of an endpoint is not public, or not https." },
  invalid_event: { status: [422], meaning: "Name, properties or time of a contact event, or no contact." },
  idempotency_key_reuse: { status: [422], meaning: "The idempotency key was used for something else." },
  capability_unsupported: { status: [422], meaning: "The key is limited to some addresses or domains." },
  invalid_form: { status: [422], meaning: "The form's document or settings break a rule." },
  invalid_form_submission: { status: [422], meaning: "Answers are missing or invalid; `fields` lists them." },
  form_sender_refused: { status: [422], meaning: "The caller may not send as this address." },
  invalid_contact: { status: [422], meaning: "It is not an address." },
  file_unshareable: { status: [422], meaning: "Programs and scripts get no link." },
  event_rate_limited: { status: [429], meaning: "Over 600 contact events a minute." },
  mailbox_checks_limited: { status: [429], meaning: "Over 10 sign-ins to mailboxes an hour." },
  form_rate_limited: { status: [429], meaning: "Over 40 sign-ups in 10 minutes from one network address." },
  ai_quota_exceeded: { status: [429], meaning: "The AI actions are used up." },
  unreachable: { status: [503], meaning: "DNS did not answer." },
} as const satisfies Readonly<Record<string, ApiErrorRow>>;

/** A code that the service's documentation names. An answer may have another. */
export type ApiErrorCode = keyof typeof API_ERROR_CODES;

/** The status that the service usually answers with a code. */
export function statusOfCode(code: ApiErrorCode): number {
  return API_ERROR_CODES[code].status[0];
}
