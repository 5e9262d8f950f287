import { type KeyObject, createSecretKey } from "node:crypto";
import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";

/** Whole secrets with `whsec_`, newest first: one, several, or a function that reads them where they are kept. */
export type SecretsOption = string | readonly string[] | (() => readonly string[] | Promise<readonly string[]>);

/** `whsec_` and 43 characters are 49; anything far shorter can be guessed. */
const SHORTEST_SECRET = 24;
const PREFIX = "whsec_";

/** A flood of forged signatures must not become a flood of reads. */
const REREAD_PAUSE_MS = 5 * SECOND;

/** The secrets that verify now. A function is asked at start and again when a signature matches none. */
export class SecretSource {
  readonly #read: (() => readonly string[] | Promise<readonly string[]>) | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #values: readonly string[] = [];
  #keys: readonly KeyObject[] = [];
  #lastReadAt = -Infinity;
  #reading: Promise<boolean> | undefined;

  /** Throws `invalid_secret` for secrets given as text that cannot be right. */
  constructor(option: SecretsOption, deps: { clock: Clock; logger: Logger }) {
    this.#clock = deps.clock;
    this.#logger = deps.logger;
    if (typeof option === "function") this.#read = option;
    else this.#use(typeof option === "string" ? [option] : option);
  }

  /** Newest first. Empty before `load` when they come from a function. */
  get keys(): readonly KeyObject[] {
    return this.#keys;
  }

  /** Reads the secrets for the first time; rejects when they cannot be had or cannot be right. */
  async load(): Promise<void> {
    if (this.#read === undefined || this.#keys.length > 0) return;
    this.#lastReadAt = this.#clock.now();
    this.#use(await this.#read());
  }

  /** Reads again, unless that was done a moment ago; true when there are other secrets than before. */
  reread(): Promise<boolean> {
    this.#reading ??= this.#reread().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #reread(): Promise<boolean> {
    const now = this.#clock.now();
    if (this.#read === undefined || Math.abs(now - this.#lastReadAt) < REREAD_PAUSE_MS) return false;
    this.#lastReadAt = now;
    const before = this.#values;
    try {
      this.#use(await this.#read());
    } catch (error) {
      // The old ones stay: no secret at all would turn every delivery away.
      const message = error instanceof PigeonholeError ? error.message : undefined;
      this.#logger.error({ error: error instanceof Error ? error.name : typeof error, message }, "secrets_not_read");
      return false;
    }
    const isSame =
      before.length === this.#values.length && before.every((value, index) => value === this.#values[index]);
    if (!isSame) this.#logger.info({ secrets: this.#values.length }, "secrets_changed");
    return !isSame;
  }

  #use(secrets: readonly string[]): void {
    if (!Array.isArray(secrets)) {
      throw new PigeonholeError("invalid_secret", `secrets must be a list of texts, got ${typeof secrets}.`);
    }
    if (secrets.length === 0) {
      throw new PigeonholeError(
        "invalid_secret",
        "secrets is empty; give the endpoint's secret, the whole string with whsec_.",
      );
    }
    for (const [index, secret] of secrets.entries()) this.#check(secret, index);
    this.#values = [...secrets];
    this.#keys = secrets.map((secret) => createSecretKey(secret, "utf8"));
  }

  #check(secret: unknown, index: number): void {
    const refuse = (what: string): never => {
      throw new PigeonholeError("invalid_secret", `secrets[${index}] ${what}`);
    };
    if (typeof secret !== "string")
      return refuse(`must be a string, got ${typeof secret}. Is the environment variable set?`);
    if (secret.trim() === "") return refuse("is empty. Is the environment variable set?");
    if (secret.trim() !== secret) return refuse("has white space or a line break around it; remove it.");
    if (/^["'].*["']$/.test(secret)) return refuse("has quotes around it; remove them.");
    if (/^svc_(live|test)_/.test(secret)) return refuse("is an API key; the endpoint's secret begins with whsec_.");
    if (secret.length < SHORTEST_SECRET) {
      return refuse(`has ${secret.length} characters, too few to be safe; the service's have 49.`);
    }
    if (!secret.startsWith(PREFIX)) {
      this.#logger.warn({ index }, "secret_without_whsec_prefix");
    }
  }
}
