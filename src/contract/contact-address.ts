import { z } from "zod";
import { lazy } from "../base/lazy.js";
import { MAX_ADDRESS_LENGTH, emailAddress } from "./shapes.js";

/** A contact's address as the service keeps it. See docs/service.md#contacts. */
export function foldAddress(address: string): string {
  return address.trim().toLowerCase();
}

/** A contact's address as callers write it, read as the service keeps it. */
export const contactAddress = lazy(() =>
  z
    .string()
    .overwrite(foldAddress)
    // What the JSON Schema of an input says of it.
    .meta({ format: "email", maxLength: MAX_ADDRESS_LENGTH })
    .pipe(emailAddress()),
);
