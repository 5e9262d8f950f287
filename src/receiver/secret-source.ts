import { type KeyObject, createSecretKey } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorName } from "../base/error-text.js";
import { PigeonholeError } from "../base/error.js";
import { LATE, inTime } from "../base/wait.js";
import type { Logger } from "../base/logger.js";
import { SOURCE_NAME, SOURCE_NAME_RULE } from "../protocol/inbox-id.js";
import { SECRET_SHAPE, checkEndpointSecrets } from "../protocol/secret.js";
import type { Alarms } from "./alarms.js";

/** A whole secret with `whsec_`, or several, newest first. */
type EndpointSecrets = string | readonly string[];

/** Secrets of one endpoint, or of several by the names of their sources. */
export type GivenSecrets = EndpointSecrets | Readonly<Record<string, EndpointSecrets>>;

/** A secret, and whose it is. */
export interface SecretOfSource {
  /** Name of the source; empty without names. */
  source: string;
  /** Place among the secrets of the source, 0 for the newest. */
  index: number;
  secret: string;
}

/** Secrets, or a function that reads them where they are kept. */
export type SecretsOption = GivenSecrets | (() => GivenSecrets | Promise<GivenSecrets>);

/** A flood of forged signatures must not become a flood of reads. */
const REREAD_PAUSE_MS = 5 * SECOND;

/** A delivery waits this long for the function: of the service's 5 s, the rest is for the network and the commit. */
const REREAD_LIMIT_MS = 2 * SECOND;

/** A start may take longer than an answer, so a slow secret manager gets more time. */
const LOAD_LIMIT_MS = 30 * SECOND;

/** A read that has not ended after this counts as failed, and the function is called again. */
const GIVEN_UP_MS = 30 * SECOND;

type ReadSecrets = () => GivenSecrets | Promise<GivenSecrets>;

export interface SecretSourceDeps {
  clock: Clock;
  logger: Logger;
  alarms: Alarms;
}

/** The secrets that verify now. A function is called at start and again when a signature matches none. */
export class SecretSource {
  readonly #read: ReadSecrets | undefined;
  readonly #deps: SecretSourceDeps;
  /** The names of the sources, each once. */
  sources: readonly string[] = [];
  #list: readonly SecretOfSource[] = [];
  #keys: readonly KeyObject[] = [];
  #lastAskedAt = -Infinity;
  #lastFailed = false;
  #asked = 0;
  #newestAnswer = 0;
  /** The read that deliveries share, until it has answered; it resolves at its time limit at the latest. */
  #reading: Promise<boolean> | undefined;

  /** Throws `invalid_secret` for secrets given as text that cannot be right. */
  constructor(option: SecretsOption, deps: SecretSourceDeps) {
    this.#deps = deps;
    if (typeof option === "function") this.#read = option;
    else this.#use(listSecrets(option));
  }

  /** Newest first; another list once they have changed. Empty before `load` when they come from a function. */
  get keys(): readonly KeyObject[] {
    return this.#keys;
  }

  /** Whose the key at this place is. */
  of(place: number): SecretOfSource | undefined {
    return this.#list[place];
  }

  /** Whose this secret is; undefined for one that is not known. */
  sourceOf(secret: string): string | undefined {
    return this.#list.find((known) => known.secret === secret)?.source;
  }

  /** Throws `invalid_option` for a name that no source has, as the value of `option`. */
  checkSource(option: string, source: string): void {
    if (this.#list.length === 0 || this.sources.includes(source)) return;
    const known = this.sources.map((name) => JSON.stringify(name));
    throw new PigeonholeError("invalid_option", `${option} must be a source that secrets names: ${known.join(", ")}.`);
  }

  /**
   * Reads the secrets for the first time. Rejects when they cannot be read or are invalid, and with `wait_timeout` when
   * the function does not answer within 30 s.
   */
  async load(): Promise<void> {
    if (this.#read === undefined || this.#keys.length > 0) return;
    if ((await inTime(this.#ask(this.#read), this.#deps.clock, LOAD_LIMIT_MS)) !== LATE) return;
    throw new PigeonholeError(
      "wait_timeout",
      `The function given as secrets did not answer within ${LOAD_LIMIT_MS / SECOND} s. Give it its own timeout, or check what it waits for.`,
    );
  }

  /**
   * Reads again, unless that was done a moment ago. Resolves within 2 s: true when the secrets here are current, false
   * when the function is late or has failed, so that no signature can be called wrong. A late result is used from then
   * on.
   */
  async reread(): Promise<boolean> {
    const read = this.#read;
    if (read === undefined) return true;
    const sinceMs = Math.abs(this.#deps.clock.now() - this.#lastAskedAt);
    if (this.#reading !== undefined && sinceMs < GIVEN_UP_MS) return this.#reading;
    if (this.#reading === undefined && sinceMs < REREAD_PAUSE_MS) return !this.#lastFailed;
    const answer = this.#tryToAsk(read);
    const reading = this.#untilLate(answer);
    this.#reading = reading;
    void answer.finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    return reading;
  }

  async #untilLate(answer: Promise<boolean>): Promise<boolean> {
    const { clock, logger, alarms } = this.#deps;
    const isRead = await inTime(answer, clock, REREAD_LIMIT_MS);
    if (isRead !== LATE) return isRead;
    logger.warn({ afterMs: REREAD_LIMIT_MS }, "secrets_late");
    alarms.raise({ kind: "secrets_unavailable", reason: "late" });
    return false;
  }

  /** Never rejects; false without a usable result. */
  async #tryToAsk(read: ReadSecrets): Promise<boolean> {
    const { logger, alarms } = this.#deps;
    const before = this.#keys;
    try {
      await this.#ask(read);
    } catch (error) {
      // The old ones stay: without any secret every delivery would be refused.
      const message = error instanceof PigeonholeError ? error.message : undefined;
      logger.error({ error: errorName(error), message }, "secrets_not_read");
      alarms.raise({ kind: "secrets_unavailable", reason: "failed" });
      this.#lastFailed = true;
      return false;
    }
    this.#lastFailed = false;
    if (this.#keys !== before) logger.info({ secrets: this.#keys.length }, "secrets_changed");
    return true;
  }

  async #ask(read: ReadSecrets): Promise<void> {
    this.#lastAskedAt = this.#deps.clock.now();
    const asked = ++this.#asked;
    const secrets = await read();
    // A read that was given up may answer after its successor, with secrets that are older.
    if (asked < this.#newestAnswer) return;
    this.#use(listSecrets(secrets));
    this.#newestAnswer = asked;
  }

  #use(list: readonly SecretOfSource[]): void {
    for (const { source, index, secret } of list) {
      if (secret.startsWith(SECRET_SHAPE.prefix)) continue;
      this.#deps.logger.warn({ ...(source !== "" && { source }), index }, "secret_without_whsec_prefix");
    }
    if (isDeepStrictEqual(list, this.#list)) return;
    this.#list = list;
    this.sources = [...new Set(list.map(({ source }) => source))];
    this.#keys = list.map(({ secret }) => createSecretKey(secret, "utf8"));
  }
}

/**
 * The secrets as one list. Throws `invalid_secret` for what cannot be secrets, and for a secret of two sources, whose
 * events would be of either. The message never has a secret, nor a name that is none, which may be one.
 */
function listSecrets(secrets: GivenSecrets): SecretOfSource[] {
  const isNamed = typeof secrets === "object" && secrets !== null && !Array.isArray(secrets);
  const bySource = isNamed ? Object.entries(secrets as Record<string, EndpointSecrets>) : [["", secrets] as const];
  if (bySource.length === 0) throw refused("secrets is empty: give each source its secret.");
  const list = bySource.flatMap(([source, given]) => {
    if (!SOURCE_NAME.test(source)) throw refused(`The names in secrets must ${SOURCE_NAME_RULE}.`);
    const of = (typeof given === "string" ? [given] : given) as readonly string[];
    checkEndpointSecrets(isNamed ? `secrets[${JSON.stringify(source)}]` : "secrets", of);
    return of.map((secret, index) => ({ source, index, secret }));
  });
  const sources = new Map(list.map(({ secret, source }) => [secret, source]));
  const double = list.find(({ secret, source }) => sources.get(secret) !== source);
  if (double === undefined) return list;
  throw refused(`The sources "${double.source}" and "${sources.get(double.secret) ?? ""}" have the same secret.`);
}

function refused(message: string): PigeonholeError {
  return new PigeonholeError("invalid_secret", message);
}
