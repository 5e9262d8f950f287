import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { checkServiceSecret, secretMistakes } from "../../protocol/secret.js";
import { refusedAs, usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { findSecrets, MAKE_SECRET, NO_SECRET, SECRET_VARIABLE } from "./secret-option.js";
import { type CheckResult, checksNamed } from "../frame/check-result.js";

/**
 * The secret to sign with. An obviously invalid one is refused, since no correctly set up app accepts its signatures.
 */
export function requireSigningSecret(given: readonly string[], context: CommandContext): NamedSecret {
  const [secret] = findSecrets(given, context);
  if (secret === undefined) throw usageError(`${NO_SECRET} ${MAKE_SECRET}`);
  return checked(secret, context);
}

/** Like {@link requireSigningSecret}; undefined if there is none. */
export function findSigningSecret(given: readonly string[], context: CommandContext): NamedSecret | undefined {
  const [secret] = findSecrets(given, context);
  return secret === undefined ? undefined : checked(secret, context);
}

/** The service's secrets have a fixed length, and the sandbox refuses any other. */
export function checkSandboxSecret({ ref, value }: NamedSecret): void {
  refusedAs(
    (message) => `${ref}: ${message}`,
    () => checkServiceSecret(value),
  );
}

function checked(secret: NamedSecret, { out }: CommandContext): NamedSecret {
  for (const { status, message, fix } of reportSecrets([secret])) {
    const words = `${message} ${fix ?? ""}`.trimEnd();
    if (status === "fail") throw usageError(words);
    // A secret of another length still signs, and the app may have the same one.
    if (status === "warn") out.note(`${out.paint.yellow("!")} ${words}`);
  }
  return secret;
}

/** Checks the shape of each secret. The messages never contain one. */
export function reportSecrets(secrets: readonly NamedSecret[]): CheckResult[] {
  const { fail, pass, warn } = checksNamed("secret");
  const how = `Set ${SECRET_VARIABLE} in the environment or in .env, or give --secret env:NAME. ${MAKE_SECRET}`;
  if (secrets.length === 0) return [warn("No webhook secret was found.", how)];
  return secrets.map(({ ref, value }) => {
    const [mistake] = secretMistakes(value);
    if (mistake === undefined) return pass(`${ref} looks like a webhook secret.`);
    const report = mistake.code === "secret_has_other_length" ? warn : fail;
    return report(`${ref} ${mistake.what}.`, mistake.fix);
  });
}
