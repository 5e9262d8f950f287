import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";

const CIPHER = "aes-256-ctr";
const SEAL_BYTES = 16;
const PREFIX = "row_";

/**
 * Names for the keys of contact events. A key is a digest of what the event says, so that guesses of that could be
 * compared with it; a name says nothing without the secret, and is the same in all processes of a store.
 */
export class SealedKeys {
  readonly #sealing: Buffer;
  readonly #hiding: Buffer;

  constructor(secret: Uint8Array) {
    this.#sealing = createHmac("sha256", secret).update("seals of keys").digest();
    this.#hiding = createHmac("sha256", secret).update("names of keys").digest();
  }

  nameOf(key: string): string {
    const seal = this.#sealOf(key);
    const cipher = createCipheriv(CIPHER, this.#hiding, seal);
    return PREFIX + Buffer.concat([seal, cipher.update(key, "utf8"), cipher.final()]).toString("base64url");
  }

  /** Undefined for what {@link nameOf} has not made. */
  keyOf(name: string): string | undefined {
    const bytes = Buffer.from(name.slice(PREFIX.length), "base64url");
    if (!name.startsWith(PREFIX) || bytes.length <= SEAL_BYTES) return undefined;
    const seal = bytes.subarray(0, SEAL_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#hiding, seal);
    const key = Buffer.concat([decipher.update(bytes.subarray(SEAL_BYTES)), decipher.final()]).toString();
    return timingSafeEqual(seal, this.#sealOf(key)) ? key : undefined;
  }

  /** Of the key alone: one key has one name. */
  #sealOf(key: string): Buffer {
    return createHmac("sha256", this.#sealing).update(key).digest().subarray(0, SEAL_BYTES);
  }
}
