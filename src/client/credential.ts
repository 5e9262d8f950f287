import type { Changes } from "../base/options.js";
import { inspect } from "node:util";
import { PigeonholeError } from "../base/error.js";
import { type CredentialShape, resolveCredentialShape } from "../contract/credential-shape.js";

const WEBHOOK_SECRET = /whsec_[A-Za-z0-9_-]+/g;
/** The service's tokens of other keys: answers to making and rotating a key hold one. */
const TOKEN = /svc_live_[A-Za-z0-9_-]+/g;
/** What a URL can be a part of. */
const WORD = /[^\s"'<>]+/g;
const HIDDEN = "[api key]";

/** The API key. It is readable only as a header. Printing the object does not show it. */
export class Credential {
  readonly #key: string;
  readonly #shape: CredentialShape;

  /** Throws `invalid_option` for a key that cannot be right; the message never quotes it. */
  constructor(apiKey: string, shape?: Changes<CredentialShape>) {
    checkApiKey(apiKey);
    this.#key = apiKey;
    this.#shape = resolveCredentialShape(shape);
  }

  /** The header that carries the key, by name. */
  header(): Record<string, string> {
    return { [this.#shape.header]: this.#shape.prefix + this.#key };
  }

  /** The text without API keys, webhook secrets and links, for texts of the service that an error repeats. */
  redact(text: string): string {
    const withoutKeys = text.replaceAll(this.#key, HIDDEN).replaceAll(TOKEN, HIDDEN);
    return withoutKeys.replaceAll(WEBHOOK_SECRET, "[webhook secret]").replaceAll(WORD, hideLink);
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
