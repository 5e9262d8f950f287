/** One point that the service's documentation leaves open, and what this package does about it. */
export interface Assumption {
  /** Stable name. */
  id: string;
  /** What the service's documentation does not say. */
  notShown: string;
  /** What is taken for true by default. */
  assumed: string;
  /** What to do when the service behaves otherwise. */
  change: string;
}

/**
 * Every point about inbound deliveries that the service's documentation leaves open, as docs/assumptions.md lists them.
 * The values themselves live where they are used.
 */
export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: "timestamp_place",
    notShown: "Where the timestamp of the signature travels.",
    assumed:
      "As `t=`, `ts=` or `timestamp=` in X-Svc-Signature (`t=1700000000,v1=…`), or else in the header X-Svc-Timestamp. When both can be read, the one in X-Svc-Signature is the signed one. What cannot be read is answered 503, with an alarm that describes its shape.",
    change:
      "Fields `timestampIn` ('signature' or 'header') and `timestampHeader` of the option `signature` of createReceiver, or of `assumptions` of verifySignature.",
  },
  {
    id: "timestamp_format",
    notShown: "How the timestamp is written.",
    assumed:
      "Up to 11 digits are Unix seconds, 12 to 14 digits are milliseconds, and ISO 8601 with a zone is read too. The text is signed as it stands.",
    change:
      "Any other format cannot be read, is answered 503 and raises an alarm: `src/protocol/timestamp.ts` is the one place that reads it.",
  },
  {
    id: "signature_encoding",
    notShown: "How the signature value is encoded.",
    assumed:
      "Hex, base64 or base64url of the 32 bytes, told apart by form: alone or under any key (`v1=`, `sha256=`, `v1,`), one or several, between commas, semicolons or spaces. One value that fits is enough; other parts are passed over.",
    change:
      "Fields `encodings`, which narrows the list, and `signatureHeader`, which renames the header, of the same option.",
  },
  {
    id: "data_shape",
    notShown: "The shape of `data` for each event type.",
    assumed: "An object with any fields. Handlers get it as it was received.",
    change: "Option `schemas` with a zod schema per event type; what does not fit is parked, not lost.",
  },
  {
    id: "envelope_formats",
    notShown: "The formats of the envelope's fields.",
    assumed: "`createdAt` is ISO 8601 with a zone, as all timestamps of the API. Further fields are let through.",
    change: "A delivery that does not fit is parked with its bytes; after a fix in the schema it can be retried.",
  },
  {
    id: "event_id_format",
    notShown: "Length and format of an event `id`.",
    assumed:
      "Any text of 1 to 255 characters (Unicode code points), compared exactly. A longer one, or one with half a surrogate pair, is parked under its digest. A `type` that breaks this rule is left out, and its event parked under its id.",
    change: "MAX_EVENT_ID_LENGTH and WHOLE_CHARACTERS in `src/protocol/envelope.ts`.",
  },
  {
    id: "body_size",
    notShown: "How large a delivery may be.",
    assumed: "Well below the default limit. A larger one is answered 413, which the service does not retry.",
    change: "Option `maxBodyBytes`.",
  },
  {
    id: "test_marker",
    notShown: "Whether anything but the payload marks a delivery of POST /webhooks/{id}/test.",
    assumed: "`data.test === true` marks it, on the event type `email.sent`; nothing else is checked.",
    change: "Handlers see `event.data` and can look for another mark.",
  },
  {
    id: "retry_signing",
    notShown: "Whether a retry is signed again with a fresh timestamp.",
    assumed:
      "It is: the later attempts come after the 300 s window, so an old signature could never be accepted again. The body and its `id` stay the same.",
    change: "If retries keep their first timestamp, raise `toleranceSeconds` above the retry span (55 h at most).",
  },
  {
    id: "failure_count",
    notShown: "Whether the 100 failures that disable an endpoint are counted per attempt or per event.",
    assumed: "Per attempt, which is the case that disables sooner. The answers to the service follow from that.",
    change: "Nothing to change in a receiver; it only alters how much time is left to react.",
  },
  {
    id: "retry_after_order",
    notShown: "Whether the 10 % variation of a wait comes before or after the stretching to Retry-After.",
    assumed: "Before; where a longest time is needed, after, which gives 55 hours.",
    change: "Nothing to change in a receiver; ids are kept for at least 7 days.",
  },
];

/** Keys under which a signature header may hold the time of signing. */
export const TIMESTAMP_KEYS: ReadonlySet<string> = new Set(["t", "ts", "timestamp"]);

/** How the 32 bytes of a signature are written as text. */
export type SignatureEncoding = "hex" | "base64" | "base64url";

/** Where the time of signing travels. */
export type TimestampPlace = "either" | "signature" | "header";

/** What the documentation leaves open about the signature; see docs/service.md#signature. */
export interface SignatureAssumptions {
  /** Header of the signature, in lower case. @default 'x-svc-signature' */
  signatureHeader: string;
  /** Header of the timestamp where it is not in the signature header, in lower case. @default 'x-svc-timestamp' */
  timestampHeader: string;
  /**
   * `signature`: as `t=` in the signature header; `header`: in the timestamp header, and a `t=` is ignored; `either`:
   * the first of the two that is there. @default 'either'
   */
  timestampIn: TimestampPlace;
  /** Encodings of the signature value that are read. @default all three */
  encodings: readonly SignatureEncoding[];
}

/** The defaults: every layout in common use is read. Each is safe, since the MAC covers the time in either header. */
export const SIGNATURE_ASSUMPTIONS: SignatureAssumptions = Object.freeze({
  signatureHeader: "x-svc-signature",
  timestampHeader: "x-svc-timestamp",
  timestampIn: "either",
  encodings: Object.freeze<SignatureEncoding[]>(["hex", "base64", "base64url"]),
});
