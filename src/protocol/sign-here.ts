import { type SignDeliveryInput, signDelivery } from "./sign-delivery.js";

/**
 * Marks a delivery that this package signed itself. Its times are those of this machine's clock, so they cannot confirm
 * that clock. Not protected: a forged one only keeps data for longer.
 */
export const SIGNED_HERE_HEADER = "x-pigeonhole-signed-here";

/** The headers of a delivery of our own: a sample, a replay or a probe. The service's own do not have the mark. */
export function signHere(input: SignDeliveryInput): Record<string, string> {
  return { ...signDelivery(input), [SIGNED_HERE_HEADER]: "1" };
}
