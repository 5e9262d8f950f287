import { secretHints, secretVariants } from "../../protocol/explain-secret.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { MAKE_SECRET, SECRET_VARIABLE } from "./secret-option.js";
import { type CheckResult, fail, pass, warn } from "../frame/check-result.js";

/** Mistakes that are visible without a signature, with their message. */
const VISIBLE = {
  secret_has_whitespace: "has white space or a line end around it",
  secret_has_quotes: "has quotes or a written-out line end around it",
  secret_prefix_missing: "lacks the prefix whsec_",
} as const;

/** Checks the shape of each secret. The messages never contain one. */
export function checkSecrets(secrets: readonly NamedSecret[]): CheckResult[] {
  if (secrets.length > 0) return secrets.map(checkSecret);
  return [
    warn(
      "secret",
      "No webhook secret was found.",
      `Set ${SECRET_VARIABLE} in the environment or in .env, or give --secret env:NAME. ${MAKE_SECRET}`,
    ),
  ];
}

function checkSecret({ ref, value }: NamedSecret): CheckResult {
  const [hint] = secretHints(value, ref);
  if (hint?.code === "secret_has_other_length") return warn("secret", hint.message, hint.fix);
  if (hint !== undefined) return fail("secret", hint.message, hint.fix);
  for (const { finding } of secretVariants(value, ref)) {
    const what = Object.entries(VISIBLE).find(([code]) => code === finding.code)?.[1];
    if (what !== undefined) return fail("secret", `${ref} ${what}.`, finding.fix);
  }
  return pass("secret", `${ref} looks like a webhook secret.`);
}
