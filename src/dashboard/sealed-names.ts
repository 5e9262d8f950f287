import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";

const CIPHER = "aes-256-ctr";
const SEAL_BYTES = 16;

/**
 * Names for ids that are digests of what may not be seen: a guess of that could be compared with them. A name says
 * nothing without the secret, and is the same in all processes of a store.
 */
export class SealedNames {
  readonly #prefix: string;
  readonly #sealing: Buffer;
  readonly #hiding: Buffer;

  /** Names begin with `prefix`; those of another one are no names. */
  constructor(secret: Uint8Array, prefix: string) {
    this.#prefix = prefix;
    this.#sealing = createHmac("sha256", secret).update(`seals of names ${prefix}`).digest();
    this.#hiding = createHmac("sha256", secret).update(`names ${prefix}`).digest();
  }

  nameOf(id: string): string {
    const seal = this.#sealOf(id);
    const cipher = createCipheriv(CIPHER, this.#hiding, seal);
    return this.#prefix + Buffer.concat([seal, cipher.update(id, "utf8"), cipher.final()]).toString("base64url");
  }

  /** Undefined for what {@link nameOf} has not made. */
  idOf(name: string): string | undefined {
    const bytes = Buffer.from(name.slice(this.#prefix.length), "base64url");
    if (!name.startsWith(this.#prefix) || bytes.length <= SEAL_BYTES) return undefined;
    const seal = bytes.subarray(0, SEAL_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#hiding, seal);
    const id = Buffer.concat([decipher.update(bytes.subarray(SEAL_BYTES)), decipher.final()]).toString();
    return timingSafeEqual(seal, this.#sealOf(id)) ? id : undefined;
  }

  /** Of the id alone: one id has one name. */
  #sealOf(id: string): Buffer {
    return createHmac("sha256", this.#sealing).update(id).digest().subarray(0, SEAL_BYTES);
  }
}
