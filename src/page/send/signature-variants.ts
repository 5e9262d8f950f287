import type { SignatureVariant } from "../../dev/api/page-api.js";

/** What each choice sends, and what a receiver should answer. */
export const VARIANTS: Record<SignatureVariant, { label: string; meaning: string; expected: string }> = {
  valid: { label: "Valid", meaning: "Signed now with the first secret.", expected: "200" },
  stale: {
    label: "Stale",
    meaning: "Genuine, but signed longer ago than the tolerance.",
    expected: "503, or 401 with unverified: reject",
  },
  "wrong-secret": {
    label: "Wrong secret",
    meaning: "Signed with an unknown random secret.",
    expected: "503, or 401 with unverified: reject",
  },
  tampered: {
    label: "Tampered",
    meaning: "The body is changed after it was signed.",
    expected: "503, or 401 with unverified: reject",
  },
  missing: { label: "Missing", meaning: "No signature header at all.", expected: "401" },
};
