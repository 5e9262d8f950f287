/** Ways to write a signature; see `signDelivery`. */
export const SIGNATURE_FORMATS = ["combined", "bare"] as const;
export const SIGNATURE_ENCODINGS = ["hex", "base64", "base64url"] as const;
