/** Data without code, which the help of the command line loads. */
export const REDACTION_PROFILES = ["default", "strict"] as const;

/**
 * How much is hidden. `default`: addresses, domains and IPs become stable stand-ins, texts become filler of the same
 * length, and tokens are removed. Identifiers, dates, other numbers, and words in fields such as `type` or `reason`
 * stay. `strict`: in addition, identifiers within `data` become stand-ins, numbers keep only their number of digits,
 * texts lose their punctuation, and captures lose their path and tags.
 */
export type RedactionProfile = (typeof REDACTION_PROFILES)[number];
