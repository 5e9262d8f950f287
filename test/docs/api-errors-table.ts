import { API_ERROR_CODES, type ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";

/** The codes of the service's errors by status, as a Markdown table. */
export function apiErrorsTable(): string {
  const codes = Object.keys(API_ERROR_CODES) as ApiErrorCode[];
  const statuses = [...new Set(codes.flatMap((code) => API_ERROR_CODES[code].status))].toSorted((a, b) => a - b);
  const rows = statuses.map((status) => {
    const found = codes.filter((code) => (API_ERROR_CODES[code].status as readonly number[]).includes(status));
    return `| ${status} | ${found.map((code) => `\`${code}\``).join(", ")} |`;
  });
  return ["| status | codes |", "|---|---|", ...rows].join("\n");
}
