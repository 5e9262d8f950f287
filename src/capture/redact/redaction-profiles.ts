/** Data without code, which the help of the command line loads. */
export const REDACTION_PROFILES = ["default", "strict"] as const;

/**
 * How much is hidden. `default`: addresses, domains and IPs become stable stand-ins, texts become filler of the same
 * length, and tokens are removed. Identifiers, dates, other numbers, and words in fields such as `type` or `reason`
 * stay. `strict`: in addition, identifiers within `data` become stand-ins, numbers keep only their number of digits,
 * texts lose their punctuation, and captures lose their tags, and have the usual path instead of theirs.
 */
export type RedactionProfile = (typeof REDACTION_PROFILES)[number];

/** Of a file that is made for people outside, in one click. */
export const SHARED_PROFILE: RedactionProfile = "strict";

/** Both in one sentence each, for help. */
export const REDACTION_HELP =
  "default: addresses, domains and IPs become stable stand-ins, texts become filler of the same length, tokens, signature, attempts and note are removed; identifiers, dates and numbers stay. strict, as the page's Share saves: identifiers in data and numbers are replaced, too, tags removed, and the path is the usual one. A capture names its profile in redaction, a curl command in a comment. Both profiles recognize formats, not meanings: check the result before you share it.";
