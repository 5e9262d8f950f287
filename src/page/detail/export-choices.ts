import type { ExportBody } from "../../dev/api/page-api.js";

/** Export formats for the menus. */
export const EXPORT_CHOICES: readonly { as: ExportBody["as"]; label: string; hint: string }[] = [
  { as: "json", label: "JSON", hint: "a fixture to keep in the repository" },
  { as: "ndjson", label: "NDJSON", hint: "one capture per line" },
  { as: "vitest", label: "vitest", hint: "a test per capture" },
  { as: "curl", label: "cURL", hint: "a shell script, signed again" },
];
