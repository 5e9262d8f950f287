import { z } from "zod";

/** Header of the key. See docs/service.md#idempotency-keys. */
export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

/**
 * Up to 255 letters, digits, `_`, `.`, `:` and `-`; anything else is 400 `invalid_idempotency_key`. See
 * docs/service.md#idempotency-keys.
 */
export const idempotencyKey = z.string().regex(/^[A-Za-z0-9_.:-]{1,255}$/, {
  error: "Must be 1 to 255 letters, digits, underscores, dots, colons or dashes.",
});
