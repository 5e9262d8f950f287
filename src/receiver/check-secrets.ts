import { PigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";

/** `whsec_` and 43 characters are 49; a much shorter one can be guessed. */
const MIN_SECRET_LENGTH = 24;
const PREFIX = "whsec_";

/**
 * Throws `invalid_secret` for a value that is not a list, an empty list, or an entry that cannot be an endpoint's
 * secret. The message names the position in the list and never the value. A secret without `whsec_` is only a warning,
 * since it may be right.
 */
export function checkSecrets(secrets: readonly string[], logger: Logger): void {
  if (!Array.isArray(secrets)) {
    throw new PigeonholeError("invalid_secret", `secrets must be a list of texts, got ${typeof secrets}.`);
  }
  if (secrets.length === 0) {
    throw new PigeonholeError(
      "invalid_secret",
      "secrets is empty; give the endpoint's secret, the whole string with whsec_.",
    );
  }
  for (const [index, secret] of secrets.entries()) {
    const mistake = findMistake(secret);
    if (mistake !== undefined) throw new PigeonholeError("invalid_secret", `secrets[${index}] ${mistake}`);
    if (!secret.startsWith(PREFIX)) logger.warn({ index }, "secret_without_whsec_prefix");
  }
}

function findMistake(secret: unknown): string | undefined {
  if (typeof secret !== "string") return `must be a string, got ${typeof secret}. Is the environment variable set?`;
  if (secret.trim() === "") return "is empty. Is the environment variable set?";
  if (secret.trim() !== secret) return "has white space or a line break around it; remove it.";
  if (/^["'].*["']$/.test(secret)) return "has quotes around it; remove them.";
  if (/^svc_(live|test)_/.test(secret)) return "is an API key; the endpoint's secret begins with whsec_.";
  if (secret.length < MIN_SECRET_LENGTH) {
    return `has ${secret.length} characters, too few to be safe; the service's have 49.`;
  }
  return undefined;
}
