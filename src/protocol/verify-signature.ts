import { timingSafeEqual } from "node:crypto";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import {
  type Changes,
  type OptionsDefinition,
  type OptionsOf,
  defineOptions,
  given,
  required,
} from "../base/options.js";
import type { SignatureAssumptions } from "./signature-assumptions.js";
import { checkBody, writeDeliveryMac } from "./delivery-mac.js";
import { headerReader, type HeadersInput } from "./header-access.js";
import { LIMITS } from "./limits.js";
import { parseSignature, type ParsedSignature, type ParseFailure } from "./parse-signature.js";
import { resolveSignatureAssumptions } from "./resolve-assumptions.js";
import { checkSecrets, type Secret } from "./secret.js";

/** A delivery to verify. */
export interface VerifySignatureInput {
  /** The body exactly as received. Text is taken as UTF-8; bytes are better, since decoding may lose some. */
  body: Uint8Array | string;
  /** The request's headers: Fetch `Headers`, Node's `req.headers`, or a function from lower-case name to value. */
  headers: HeadersInput;
  /**
   * One secret or several, each the whole string including `whsec_`. Several bridge a rotation, which has no overlap.
   */
  secrets: string | readonly Secret[];
  /** The time to measure the age against, in milliseconds since 1970. @default Date.now() */
  nowMs?: number | undefined;
  /**
   * Greatest accepted difference to `nowMs` both ways, in seconds: 300 are 300,000 ms and not one more. 0 means the
   * same millisecond; Infinity checks no age, for captured deliveries. @default 300
   */
  toleranceSeconds?: number | undefined;
  /** Changes to what the service's documentation leaves open. @default SIGNATURE_ASSUMPTIONS */
  assumptions?: Changes<SignatureAssumptions> | undefined;
}

/** The names of {@link VerifySignatureInput}; the values are checked below. TypeScript 5.4 needs the type. */
export const VERIFY_OPTIONS: OptionsDefinition<OptionsOf<VerifySignatureInput>> = defineOptions("verifySignature", {
  body: required(),
  headers: required(),
  secrets: required(),
  nowMs: given(),
  toleranceSeconds: given<number>({ default: LIMITS.toleranceSeconds }),
  assumptions: given(),
});

/** What verification found where there was something to verify. */
export type MacVerdict =
  /** Genuine and in time. */
  | {
      ok: true;
      /** Time of signing in milliseconds since 1970. */
      signedAt: number;
      /** Whole seconds since then, negative when it lies ahead; outside the tolerance the next whole second. */
      skewSeconds: number;
      /** Position of the first secret that fits. */
      secretIndex: number;
    }
  /** No secret made any of the signatures. */
  | { ok: false; reason: "mismatch"; signedAt: number; skewSeconds: number }
  /** Genuine, and signed too long ago or too far ahead: an old delivery, or one of the two clocks is off. */
  | { ok: false; reason: "stale" | "early"; signedAt: number; skewSeconds: number; secretIndex: number };

/** The result of {@link verifySignature}. Never holds a secret, a signature or a part of the body. */
export type SignatureVerdict = MacVerdict | ParseFailure;

/**
 * Verifies a delivery: HMAC-SHA256 over timestamp, dot and raw body, keyed by the whole secret, compared in constant
 * time, within 300 seconds (docs/service.md#signature). The result says why not; no body and no header makes it throw.
 * Throws `invalid_secret` when there is no secret or an empty one, and `invalid_argument` or `invalid_option` for
 * arguments that no sender can influence.
 *
 * @example
 * const verdict = verifySignature({ body, headers: req.headers, secrets: process.env["WEBHOOK_SECRET"] ?? "" });
 * if (!verdict.ok) console.warn(verdict.reason);
 */
export function verifySignature(input: VerifySignatureInput): SignatureVerdict {
  VERIFY_OPTIONS.checkNames(input);
  const { body, nowMs = Date.now(), toleranceSeconds = LIMITS.toleranceSeconds } = input;
  const secrets = checkSecrets(input.secrets);
  checkBody(body);
  checkTimes(nowMs, toleranceSeconds);
  const parsed = parseSignature(headerReader(input.headers), resolveSignatureAssumptions(input.assumptions));
  return parsed.ok ? verifyParsed(parsed, body, secrets, nowMs, toleranceSeconds) : parsed;
}

/**
 * The second half of {@link verifySignature}, for a receiver that reads the headers before the body. The arguments must
 * have been checked; a time that is not a number counts as stale.
 */
export function verifyParsed(
  parsed: ParsedSignature,
  body: Uint8Array | string,
  secrets: readonly Secret[],
  nowMs: number,
  toleranceSeconds: number,
): MacVerdict {
  const { signedAt } = parsed;
  const skewMs = nowMs - signedAt;
  const isInTime = Math.abs(skewMs) <= toleranceSeconds * SECOND;
  const skewSeconds = inSeconds(skewMs, isInTime);
  // Before the window: only a genuine delivery is worth calling late, and only the service can make one.
  const secretIndex = findSecret(parsed, body, secrets);
  if (secretIndex === -1) return { ok: false, reason: "mismatch", signedAt, skewSeconds };
  if (isInTime) return { ok: true, signedAt, skewSeconds, secretIndex };
  return { ok: false, reason: skewMs < 0 ? "early" : "stale", signedAt, skewSeconds, secretIndex };
}

/** Rounded towards zero in time and away from it outside, so that 300.5 s does not read as within 300. */
function inSeconds(skewMs: number, isInTime: boolean): number {
  const seconds = Math.abs(skewMs) / SECOND;
  const whole = Math.sign(skewMs) * (isInTime ? Math.floor(seconds) : Math.ceil(seconds));
  // Not -0, which JSON and tests tell from 0.
  return whole + 0;
}

/**
 * Position of the first secret that made one of the signatures, or -1. Tries all of them, so that time tells nothing.
 */
function findSecret(parsed: ParsedSignature, body: Uint8Array | string, secrets: readonly Secret[]): number {
  const prefix = `${parsed.timestampText}.`;
  let found = -1;
  let index = 0;
  for (const secret of secrets) {
    const expected = writeDeliveryMac(secret, prefix, body);
    for (const signature of parsed.signatures) {
      if (timingSafeEqual(expected, signature) && found === -1) found = index;
    }
    index += 1;
  }
  return found;
}

function checkTimes(nowMs: number, toleranceSeconds: number): void {
  if (!Number.isFinite(nowMs)) {
    throw new PigeonholeError("invalid_argument", `nowMs must be a time in milliseconds, got ${String(nowMs)}.`);
  }
  // `>=` is false for NaN, which would otherwise refuse or accept everything.
  if (typeof toleranceSeconds === "number" && toleranceSeconds >= 0) return;
  throw new PigeonholeError(
    "invalid_argument",
    `toleranceSeconds must be a number of seconds of at least 0, got ${String(toleranceSeconds)}.`,
  );
}
