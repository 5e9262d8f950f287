import { API_ERROR_CODES } from "#pigeonhole/contract/api-error-codes.js";

/** The codes of the service's errors as a Markdown table. */
export function apiErrorsTable(): string {
  const rows = Object.entries(API_ERROR_CODES).map(
    ([code, { status, meaning }]) => `| \`${code}\` | ${status.join(" or ")} | ${meaning} |`,
  );
  return ["| code | status | meaning |", "|---|---|---|", ...rows].join("\n");
}
