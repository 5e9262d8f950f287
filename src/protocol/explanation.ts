import type { SignatureVerdict } from "./verify-signature.js";

/** What a finding of {@link SignatureExplanation} is about. */
export type FindingCode =
  /** Headers that are absent or cannot be read. */
  | "signature_missing"
  | "signature_malformed"
  | "timestamp_missing"
  | "timestamp_malformed"
  /** The secret that was given is not the text the service signs with. */
  | "secret_has_whitespace"
  | "secret_has_quotes"
  | "secret_prefix_missing"
  | "secret_prefix_not_signed"
  | "secret_base64_decoded"
  | "secret_is_api_key"
  | "secret_is_endpoint_id"
  | "secret_has_other_length"
  | "secret_unknown"
  /** The body is not the bytes that were signed. */
  | "body_reserialised"
  | "body_trailing_newline"
  | "body_base64"
  | "body_lost_characters"
  | "body_empty"
  | "body_stringified_object"
  /** The signed content was put together in another way. */
  | "timestamp_unit"
  | "timestamp_not_signed"
  /** Time. */
  | "clock_ahead"
  | "clock_behind"
  /** Accepted, with a remark. */
  | "secret_not_first";

/** One cause, and what to do about it. */
export interface SignatureFinding {
  /** What the finding is about; safe to compare. */
  code: FindingCode;
  /** What is wrong, in a sentence. */
  message: string;
  /** What to change, in a sentence. */
  fix: string;
}

/** The result of `explainSignature`. Its words hold no secret, no signature and no part of the body. */
export interface SignatureExplanation {
  /** What `verifySignature` says. */
  verdict: SignatureVerdict;
  /** True when the delivery is genuine and in time. */
  ok: boolean;
  /** One sentence for a log or a terminal. */
  summary: string;
  /** Causes, the likeliest first; may be empty when `ok`. */
  findings: readonly SignatureFinding[];
}

/** Something that was signed instead of what was given, and the finding if that turns out to fit. */
export interface Variant<Value> {
  value: Value;
  finding: SignatureFinding;
}
