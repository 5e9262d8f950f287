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
