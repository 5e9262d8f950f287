import { describe, expect, test } from "vitest";
import { API_ERROR_CODES, type ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";

/** The codes in both tables of errors of the service's documentation, by status, in any order. */
const DOCUMENTED: Record<number, string> = {
  400: `invalid_cursor invalid_parameter invalid_idempotency_key mailbox_address_invalid mailbox_login_failed
    connected_mailbox_send_sign_in_failed mailbox_settings_unknown connected_mailbox_send_server_unknown
    mailbox_uses_vendor connected_mailbox_domain_hosted connected_mailbox_no_password`,
  403: `insufficient_scope beyond_caller_authority owner_only insufficient_authority step_up_required inactive_api_key`,
  404: `resource_not_found role_not_found contact_not_found connected_mailbox_not_found form_not_found
    form_starter_not_found audience_not_found`,
  409: `revoked not_revoked role_name_taken role_immutable role_undeletable role_in_use stream_not_paused
    connected_mailbox_already_connected connected_mailbox_connected_elsewhere signature_name_taken label_name_taken
    contact_exists form_closed version_conflict file_in_use ai_not_configured`,
  422: `invalid_parameter unknown_parameter role_not_found workspace_limit_reached role_limit_reached
    invalid_webhook_url invalid_event idempotency_key_reuse capability_unsupported invalid_form
    invalid_form_submission form_sender_refused invalid_contact signature_limit_reached label_limit_reached
    file_unshareable`,
  429: `event_rate_limited mailbox_checks_limited form_rate_limited ai_quota_exceeded`,
  503: `unreachable`,
};

const codes = Object.keys(API_ERROR_CODES) as ApiErrorCode[];

describe("the error codes of the API", () => {
  test("the error codes are those that the service documents, each with its statuses", () => {
    const documented = Object.entries(DOCUMENTED).flatMap(([status, text]) =>
      text.split(/\s+/).map((code) => `${code} ${status}`),
    );
    const listed = codes.flatMap((code) => API_ERROR_CODES[code].status.map((status) => `${code} ${status}`));
    expect(listed.toSorted()).toEqual(documented.toSorted());
  });

  test.each(codes)("the error code %s has a meaning in one sentence", (code) => {
    expect(API_ERROR_CODES[code].meaning).toMatch(/^[A-Z][^|\n]*\.$/);
  });
});
