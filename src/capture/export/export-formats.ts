/** Data without code, which the help of the command line loads. */
export const EXPORT_FORMATS = ["ndjson", "json", "curl"] as const;

/** Export formats. The first two can be imported again. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
