import type { ApiErrorCode } from "./api-error-codes.js";
import type { Operation } from "./operation.js";

/**
 * The codes that an operation answers: those that follow from its row, and then its own. Others are possible. See
 * docs/service.md#errors.
 */
export function errorCodesOf(operation: Operation): readonly ApiErrorCode[] {
  const { params, query, body, uploads, missing = "resource_not_found", issueCodes, errors = [] } = operation;
  const takesFields = query !== undefined || body !== undefined;
  const rules: readonly (readonly [isPossible: boolean, code: ApiErrorCode])[] = [
    [operation.ownerOnly === true, "owner_only"],
    [operation.scope !== null, "insufficient_scope"],
    [operation.stepUp === true, "step_up_required"],
    [operation.closedToSome !== undefined, "capability_unsupported"],
    [params !== undefined, missing],
    [operation.paged === true, "invalid_cursor"],
    [takesFields || uploads !== undefined, "invalid_parameter"],
    [takesFields && issueCodes?.["*"] === undefined, "unknown_parameter"],
    [operation.retry === "with-key", "invalid_idempotency_key"],
    [operation.events !== undefined, "event_rate_limited"],
  ];
  const usual = rules.flatMap(([isPossible, code]) => (isPossible ? [code] : []));
  return [...new Set([...usual, ...errors])];
}
