import { PigeonholeError } from "../base/error.js";
import type { ReceiverParts } from "./receiver-parts.js";

const PARTS = new WeakMap<object, ReceiverParts>();

/** Makes the parts of a receiver known to the package, and to nobody outside. */
export function rememberParts(receiver: object, parts: ReceiverParts): void {
  PARTS.set(receiver, parts);
}

/** Throws `invalid_argument` for what `createReceiver` of this copy of the package has not made. */
export function partsOf(receiver: object): ReceiverParts {
  const parts = PARTS.get(receiver);
  if (parts !== undefined) return parts;
  throw new PigeonholeError(
    "invalid_argument",
    "This needs a receiver that createReceiver made, from the same installation of the package.",
  );
}
