import type { NamedSecret } from "../../capture/judge-signature.js";
import { checkSecrets } from "../doctor/check-secret.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { findSecrets, MAKE_SECRET, NO_SECRET } from "./secret-option.js";

/** The secret to sign with. One that is visibly none is refused, since no app that is set up rightly takes what it signs. */
export function requireSigningSecret(given: readonly string[], context: CommandContext): NamedSecret {
  const [secret] = findSecrets(given, context);
  if (secret === undefined) throw usageError(`${NO_SECRET} ${MAKE_SECRET}`);
  return checked(secret, context);
}

/** As {@link requireSigningSecret}; undefined when there is none. */
export function findSigningSecret(given: readonly string[], context: CommandContext): NamedSecret | undefined {
  const [secret] = findSecrets(given, context);
  return secret === undefined ? undefined : checked(secret, context);
}

function checked(secret: NamedSecret, { out }: CommandContext): NamedSecret {
  for (const { status, message, fix } of checkSecrets([secret])) {
    const words = `${message} ${fix ?? ""}`.trimEnd();
    if (status === "fail") throw usageError(words);
    // Of another length it still signs; perhaps the app was given the same.
    if (status === "warn") out.note(`${out.paint.yellow("!")} ${words}`);
  }
  return secret;
}
