/** Data without code, which the help of the command line loads. */
export const EXPORT_FORMATS = ["ndjson", "json", "har", "curl", "http", "vitest"] as const;

/** Export formats. The first three can be imported again, `har` without attempts and tags. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
