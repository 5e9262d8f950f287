import { KeyObject, randomBytes } from "node:crypto";
import { PigeonholeError } from "../base/error.js";

/** A webhook secret: the whole string including `whsec_`, or the same as a key object made once. */
export type Secret = string | KeyObject;

/**
 * The shape of a webhook secret: the prefix, then this many base64url characters. See docs/service.md#identifiers.
 */
export const SECRET_SHAPE = { prefix: "whsec_", keyLength: 43 } as const;

const { prefix, keyLength } = SECRET_SHAPE;

/** A secret as the service makes them. */
export const SECRET_PATTERN = new RegExp(`^${prefix}[A-Za-z0-9_-]{${keyLength}}$`);

/** A shorter one, the prefix included, can be guessed. */
const MIN_LENGTH = 24;

/** What to do about a secret that was changed on its way. */
export const PASS_WHOLE_SECRET =
  "Pass the secret as the service shows it when the endpoint is created, whole and unchanged.";

/** A secret as the service makes them, of these 32 bytes. @default random bytes */
export function makeSecret(bytes: Buffer = randomBytes(32)): string {
  return prefix + bytes.toString("base64url");
}

/** What can be seen on a secret without a signature. */
export interface SecretMistake {
  code:
    | "secret_is_no_text"
    | "secret_is_empty"
    | "secret_is_api_key"
    | "secret_is_endpoint_id"
    | "secret_has_whitespace"
    | "secret_has_quotes"
    | "secret_prefix_missing"
    | "secret_has_other_length"
    | "secret_is_too_short";
  /** Continues a sentence that begins with the secret's name, without a full stop. Never quotes the secret. */
  what: string;
  /** What to do, in a sentence. */
  fix: string;
}

/** The mistakes that are visible on a secret, the one that explains most first; none on a secret of the service. */
export function secretMistakes(secret: unknown): SecretMistake[] {
  const unset = "Is the environment variable set?";
  if (typeof secret !== "string") {
    return [{ code: "secret_is_no_text", what: `must be a string, got ${typeof secret}`, fix: unset }];
  }
  const text = secret.trim();
  if (text === "") return [{ code: "secret_is_empty", what: "is empty", fix: unset }];
  const mistakes = [otherValue(text), wrapping(secret)?.mistake, shapeMistake(text), tooShort(secret)];
  return mistakes.filter((mistake) => mistake !== undefined);
}

/** A secret with something around it. */
interface Wrapping {
  bare: string;
  mistake: SecretMistake & { code: "secret_has_whitespace" | "secret_has_quotes" };
}

/** The secret without whitespace, quotes and a written-out line end around it; undefined when it has none. */
export function wrapping(secret: string): Wrapping | undefined {
  const trimmed = secret.trim();
  const bare = trimmed
    .replace(/^["'`]+/, "")
    .replace(/(?:["'`]|\\[rn])+$/, "")
    .trim();
  if (bare === secret || bare === "") return undefined;
  if (bare === trimmed) {
    const fix = "Trim the value where it is read, or remove the line end from the file or variable that holds it.";
    return { bare, mistake: { code: "secret_has_whitespace", what: "has white space or a line end around it", fix } };
  }
  const what = "has quotes or a written-out line end around it";
  const fix = "Remove the quotes: not every way of setting a variable takes them off.";
  return { bare, mistake: { code: "secret_has_quotes", what, fix } };
}

/** Values of the service that are taken for its secrets. */
function otherValue(text: string): SecretMistake | undefined {
  if (/^["']?svc_(?:live|test)_/.test(text)) {
    const fix = `Use the secret of the endpoint, which starts with ${prefix}; it is shown when the endpoint is created.`;
    return { code: "secret_is_api_key", what: "is an API key, not a webhook secret", fix };
  }
  if (/^["']?whe_/.test(text)) {
    const fix = `Use the secret, which starts with ${prefix}; rotate it if it was not kept.`;
    return { code: "secret_is_endpoint_id", what: "is the id of an endpoint, not its secret", fix };
  }
  return undefined;
}

function shapeMistake(text: string): SecretMistake | undefined {
  const length = text.length - prefix.length;
  if (!text.startsWith(prefix)) {
    return { code: "secret_prefix_missing", what: `lacks the prefix ${prefix}`, fix: PASS_WHOLE_SECRET };
  }
  if (length === keyLength) return undefined;
  const what = `has ${length} characters after ${prefix}, where the service makes ${keyLength}`;
  return { code: "secret_has_other_length", what, fix: `Perhaps it was cut when copied. ${PASS_WHOLE_SECRET}` };
}

function tooShort({ length }: string): SecretMistake | undefined {
  if (length >= MIN_LENGTH) return undefined;
  const what = `has ${length} characters, too few to be safe; the service's have ${prefix.length + keyLength}`;
  return { code: "secret_is_too_short", what, fix: PASS_WHOLE_SECRET };
}

/**
 * Returns the secrets of a signature to make or to verify as a list; throws `invalid_secret` for an empty list or
 * secret: anyone could sign then. Any other text may be a key.
 */
export function checkSecrets(secrets: string | readonly Secret[]): readonly Secret[] {
  const list: readonly Secret[] = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) throw noSecret("No webhook secret was given");
  for (const [index, secret] of list.entries()) {
    if (isUsable(secret)) continue;
    throw invalid(`secrets[${index}] is empty or not a secret key: pass the whole string.`);
  }
  return list;
}

function isUsable(secret: unknown): boolean {
  if (typeof secret === "string") return secret.trim() !== "";
  return secret instanceof KeyObject && secret.type === "secret" && (secret.symmetricKeySize ?? 0) > 0;
}

/** What a receiver accepts, since it may be right all the same. */
const ACCEPTED: ReadonlySet<SecretMistake["code"]> = new Set(["secret_prefix_missing", "secret_has_other_length"]);

/**
 * Throws `invalid_secret` for a value that is not a list, an empty list, or an entry that cannot be an endpoint's
 * secret. The message names the list, as `place`, and the position in it, and never the value.
 */
export function checkEndpointSecrets(place: string, secrets: readonly string[]): void {
  if (!Array.isArray(secrets)) {
    const why = secrets === undefined ? ", as from a variable that is not set: set it, or load .env before" : "";
    throw invalid(`${place} must be a list of strings, got ${typeof secrets}${why}.`);
  }
  if (secrets.length === 0) throw noSecret(`${place} is empty`);
  for (const [index, secret] of secrets.entries()) {
    const mistake = secretMistakes(secret).find(({ code }) => !ACCEPTED.has(code));
    if (mistake === undefined) continue;
    throw invalid(`${place}[${index}] ${mistake.what}. ${mistake.fix}`);
  }
}

/** Throws `invalid_secret` unless the secret is one as the service makes them. Never quotes it. */
export function checkServiceSecret(secret: string): void {
  if (SECRET_PATTERN.test(secret)) return;
  const shape = `${prefix} and ${keyLength} base64url characters`;
  throw invalid(`An endpoint's secret must be ${shape}; leave it out to have one made.`);
}

function noSecret(what: string): PigeonholeError {
  return invalid(`${what}: pass the whole string including ${prefix}.`);
}

function invalid(message: string): PigeonholeError {
  return new PigeonholeError("invalid_secret", message);
}
