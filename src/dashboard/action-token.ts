import { createHmac, timingSafeEqual } from "node:crypto";
import { HOUR } from "../base/duration.js";

/** A page that is open for longer asks for another one. */
const VALID_MS = 1 * HOUR;

/** How a token is judged. */
export type TokenVerdict = "valid" | "expired" | "invalid";

/** A token for the actions of one person, until `expiresAt`. */
export interface ActionToken {
  token: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Makes and checks tokens, each for one name, under a secret that all processes of a store share. */
export class ActionTokens {
  readonly #key: Buffer;

  constructor(secret: Uint8Array) {
    this.#key = createHmac("sha256", secret).update("actions of the dashboard").digest();
  }

  issue(name: string, now: number): ActionToken {
    const expiresAt = now + VALID_MS;
    return { token: `1.${expiresAt}.${this.#sign(name, expiresAt)}`, expiresAt };
  }

  judge(token: string | undefined, name: string, now: number): TokenVerdict {
    const match = /^1\.(\d{1,15})\.([\w-]{43})$/.exec(token ?? "");
    const [, time = "", signature = ""] = match ?? [];
    if (match === null || !isSameText(signature, this.#sign(name, Number(time)))) return "invalid";
    return now < Number(time) ? "valid" : "expired";
  }

  #sign(name: string, expiresAt: number): string {
    return createHmac("sha256", this.#key).update(`1\n${expiresAt}\n${name}`).digest("base64url");
  }
}

/** Compares in constant time; both have one length. */
function isSameText(given: string, wanted: string): boolean {
  return timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
}
