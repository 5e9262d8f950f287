import { z } from "zod";
import { LIMITS } from "../protocol/limits.js";
import { emailAddress } from "./shapes.js";

/** One address, or `*@` and a domain for every address of it. */
export const addressOrCatchAll = z
  .string()
  .refine((text) => emailAddress().safeParse(text.replace(/^\*@/, "any@")).success, {
    error: "Must be an email address, or *@ and a domain.",
  });

/** The addresses that a key or an endpoint is limited to. */
export const addressAllowlist = z
  .array(emailAddress())
  .max(LIMITS.addressAllowlistSize, { error: "Must hold at most 50 addresses." })
  .readonly();

/** Two labels or more, in any alphabet; the last is no number, as that of an IP address. */
const DOMAIN = /^(?:(?!-)[\p{L}\p{M}\p{N}_-]{1,63}(?<!-)\.)+(?!\d+$|-)[\p{L}\p{M}\p{N}-]{1,63}(?<!-)$/u;

/** A domain, whatever its case. */
export const domainName = z
  .string()
  .regex(DOMAIN, { error: "Must be a domain." })
  .max(253, { error: "Must have at most 253 characters." });

/** The domains that a key or an endpoint is limited to. */
export const domainAllowlist = z
  .array(domainName)
  .max(LIMITS.domainAllowlistSize, { error: "Must hold at most 25 domains." })
  .readonly();
