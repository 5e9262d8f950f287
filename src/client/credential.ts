import type { Changes } from "../base/options.js";
import { inspect } from "node:util";
import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { LATE, inTime } from "../base/wait.js";
import { type CredentialShape, resolveCredentialShape } from "../contract/credential-shape.js";
import { noKeyInTime } from "./no-answer.js";

const WEBHOOK_SECRET = /whsec_[A-Za-z0-9_-]+/g;
/** The service's tokens of other keys: answers to making and rotating a key hold one. */
const TOKEN = /svc_live_[A-Za-z0-9_-]+/g;
/** What a URL can be a part of. */
const WORD = /[^\s"'<>]+/g;
const HIDDEN = "[api key]";

/** An API key, or a function that reads it where it is kept. */
export type ApiKeyOption = string | (() => string | Promise<string>);

/** Calls with a key that is refused must not become a flood of reads. */
const REREAD_PAUSE_MS = SECOND;

/** For which call a key is read, and how long that may take, in milliseconds. */
export interface KeyReadInput {
  call: string;
  clock: Clock;
  timeoutMs: number;
}

/** The API key. It is readable only as a header. Printing the object does not show it. */
export class Credential {
  readonly #read: (() => string | Promise<string>) | undefined;
  readonly #shape: CredentialShape;
  #key = "";
  /** The one before, which the answers of calls under way may quote. */
  #previous = "";
  #reading: Promise<void> | undefined;
  #reads = 0;
  /** Number of the read that gave the key: one that was given up must not replace a newer key. */
  #usedRead = 0;
  #rereadAtMs = -Infinity;

  /** Throws `invalid_option` for a key that cannot be right; the message never quotes it. */
  constructor(apiKey: ApiKeyOption, shape?: Changes<CredentialShape>) {
    this.#shape = resolveCredentialShape(shape);
    if (typeof apiKey === "function") this.#read = apiKey;
    else this.#use(apiKey);
  }

  /** True when there is no key yet: a function gives it at the first call. */
  get isUnread(): boolean {
    return this.#key === "";
  }

  /** The header that carries the key, by name. */
  header(): Record<string, string> {
    return { [this.#shape.header]: this.#shape.prefix + this.#key };
  }

  /**
   * Reads the key; calls at the same time share a read. Rejects with the function's error, with `invalid_option` for a
   * key that cannot be right, or with NoAnswerError after `timeoutMs`; the next call then reads again.
   */
  async read({ call, clock, timeoutMs }: KeyReadInput): Promise<void> {
    const read = this.#read;
    if (read === undefined) return;
    const reading = (this.#reading ??= this.#start(read));
    try {
      if ((await inTime(reading, clock, timeoutMs)) === LATE) throw noKeyInTime(call, timeoutMs);
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  /**
   * Called when the service has refused a call with this header: reads the key again, unless that was done a moment
   * ago. True when there is another one, so that the call can be sent with it. Never rejects.
   */
  async renew(refused: Readonly<Record<string, string>>, input: KeyReadInput): Promise<boolean> {
    const nowMs = input.clock.now();
    const isOther = (): boolean => this.header()[this.#shape.header] !== refused[this.#shape.header];
    if (this.#reading === undefined && !isOther()) {
      if (Math.abs(nowMs - this.#rereadAtMs) < REREAD_PAUSE_MS) return false;
      this.#rereadAtMs = nowMs;
    }
    // The present key goes on to count when another one cannot be read.
    if (!isOther()) await this.read(input).catch(() => {});
    return isOther();
  }

  /** The text without API keys, webhook secrets and links, for texts of the service that an error repeats. */
  redact(text: string): string {
    const keys = [this.#key, this.#previous].filter((key) => key !== "");
    const withoutKeys = keys.reduce((rest, key) => rest.replaceAll(key, HIDDEN), text);
    return withoutKeys
      .replaceAll(TOKEN, HIDDEN)
      .replaceAll(WEBHOOK_SECRET, "[webhook secret]")
      .replaceAll(WORD, hideLink);
  }

  async #start(read: () => string | Promise<string>): Promise<void> {
    const number = (this.#reads += 1);
    const key = await read();
    if (number < this.#usedRead) return;
    this.#use(key);
    this.#usedRead = number;
  }

  #use(apiKey: string): void {
    checkApiKey(apiKey);
    if (apiKey === this.#key) return;
    this.#previous = this.#key;
    this.#key = apiKey;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** The word without a link to a file: anyone who knows its URL can fetch the file. Each search reads the word once. */
function hideLink(word: string): string {
  const idAt = word.search(/shr_[A-Za-z0-9_-]/);
  if (idAt === -1) return word;
  const urlAt = word.search(/https?:\/\//);
  return `${word.slice(0, urlAt === -1 ? idAt : Math.min(urlAt, idAt))}[link]`;
}

function checkApiKey(apiKey: unknown): void {
  const refuse = (what: string): never => {
    throw new PigeonholeError("invalid_option", `apiKey ${what}`);
  };
  if (typeof apiKey !== "string")
    return refuse(`must be a string, got ${typeof apiKey}. Is the environment variable set?`);
  if (apiKey.trim() === "") return refuse("is empty. Is the environment variable set?");
  if (/["'`]/.test(apiKey)) return refuse("has quotes in it; remove them.");
  if (/\s/.test(apiKey)) return refuse("has white space or a line break in it; remove it.");
  // fetch quotes a header value that it refuses, so refuse it here.
  if (!/^[!-~]+$/.test(apiKey)) return refuse("has characters that no key has; copy it again.");
  if (apiKey.startsWith("whsec_")) return refuse("is a webhook secret; an API key begins with svc_live_.");
  if (apiKey.startsWith("whe_")) return refuse("is the id of a webhook endpoint; an API key begins with svc_live_.");
}
