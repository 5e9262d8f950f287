import { createHash } from "node:crypto";
import { makeSecret } from "../../protocol/secret.js";

/** Identifiers and secrets of one sandbox. With one seed, the same label gives the same one in every run. */
export interface MakeId {
  /** 24 hex digits. */
  hex(label: string): string;
  /** A UUID of version 4. */
  uuid(label: string): string;
  /** `whsec_` and 43 base64url characters. As secret as the seed is. */
  secret(label: string): string;
}

export function createMakeId(seed: string): MakeId {
  const digest = (label: string): Buffer => createHash("sha256").update(`${seed}\0${label}`).digest();
  return {
    hex: (label) => digest(label).toString("hex").slice(0, 24),
    uuid: (label) => uuidOf(digest(label).toString("hex")),
    secret: (label) => makeSecret(digest(label)),
  };
}

function uuidOf(hex: string): string {
  const variant = "89ab"[Number.parseInt(hex[16] ?? "0", 16) % 4] ?? "8";
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
