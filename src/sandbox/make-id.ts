import { createHash } from "node:crypto";
import { makeSecret } from "../protocol/secret.js";

/** Identifiers and secrets of one sandbox. With one seed, the same label gives the same one in every run. */
export interface MakeId {
  /** 24 hex digits. */
  hex(label: string): string;
  /** `whsec_` and 43 base64url characters. As secret as the seed is. */
  secret(label: string): string;
}

export function createMakeId(seed: string): MakeId {
  const digest = (label: string): Buffer => createHash("sha256").update(`${seed}\0${label}`).digest();
  return {
    hex: (label) => digest(label).toString("hex").slice(0, 24),
    secret: (label) => makeSecret(digest(label)),
  };
}
