import type { Capture } from "../model/capture.js";

/** Such as `Redacted: strict`, for formats without a field for it; empty for a capture with the original data. */
export function describeRedaction({ redaction }: Pick<Capture, "redaction">): string {
  // It comes from a file, and must not end a comment.
  return redaction === null ? "" : `Redacted: ${redaction.replaceAll(/[^\w-]/g, "?").slice(0, 40)}`;
}
