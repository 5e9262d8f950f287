import { secretMistakes } from "../../protocol/secret.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { MAKE_SECRET, SECRET_VARIABLE } from "./secret-option.js";
import { type CheckResult, fail, pass, warn } from "../frame/check-result.js";

/** Checks the shape of each secret. The messages never contain one. */
export function reportSecrets(secrets: readonly NamedSecret[]): CheckResult[] {
  if (secrets.length > 0) return secrets.map(reportSecret);
  return [
    warn(
      "secret",
      "No webhook secret was found.",
      `Set ${SECRET_VARIABLE} in the environment or in .env, or give --secret env:NAME. ${MAKE_SECRET}`,
    ),
  ];
}

function reportSecret({ ref, value }: NamedSecret): CheckResult {
  const [mistake] = secretMistakes(value);
  if (mistake === undefined) return pass("secret", `${ref} looks like a webhook secret.`);
  const report = mistake.code === "secret_has_other_length" ? warn : fail;
  return report("secret", `${ref} ${mistake.what}.`, mistake.fix);
}
