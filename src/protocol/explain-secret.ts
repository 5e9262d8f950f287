import type { SignatureFinding, Variant } from "./explanation.js";
import { PASS_WHOLE_SECRET, type Secret, SECRET_SHAPE, secretMistakes, wrapping } from "./secret.js";

const { prefix } = SECRET_SHAPE;

/** Other keys that may be meant by a secret, each with what would then be wrong. A key object has none. */
export function secretVariants(secret: Secret, name: string): Variant<string | Uint8Array>[] {
  if (typeof secret !== "string") return [];
  const clean = cleanVariant(secret, name);
  const base = clean?.value ?? secret;
  const variants: Variant<string | Uint8Array>[] = clean === undefined ? [] : [clean];
  // A second cause in the same secret is reported under the one that stands out: copying it again fixes both.
  if (!base.startsWith(prefix)) {
    const message = `${name} lacks the prefix ${prefix}; the signature fits with it.`;
    variants.push({
      value: prefix + base,
      finding: { code: "secret_prefix_missing", message, fix: PASS_WHOLE_SECRET },
    });
    return variants;
  }
  const rest = base.slice(prefix.length);
  if (rest === "") return variants;
  variants.push({
    value: rest,
    finding: {
      code: "secret_prefix_not_signed",
      message: `The signature fits ${name} without its prefix ${prefix}: the sender left the prefix out of the key.`,
      fix: `Sign with the whole secret, as the service does; ${prefix} belongs to the key.`,
    },
  });
  variants.push({
    value: Buffer.from(rest, "base64"),
    finding: {
      code: "secret_base64_decoded",
      message: `The signature fits the base64-decoded part of ${name} after ${prefix}: that is the Standard Webhooks key.`,
      fix: "Sign with the secret as text, as the service does; libraries for Standard Webhooks or Svix decode it.",
    },
  });
  return variants.filter(({ value }) => value.length > 0);
}

function cleanVariant(secret: string, name: string): Variant<string> | undefined {
  const wrapped = wrapping(secret);
  if (wrapped === undefined) return undefined;
  const { bare, mistake } = wrapped;
  const { what, fix } = mistake;
  const how = mistake.code === "secret_has_whitespace" ? "after trimming" : "without";
  return { value: bare, finding: { code: mistake.code, message: `${name} ${what}; it would match ${how}.`, fix } };
}

/** What can be seen on a secret that fits nothing. */
export function secretHints(secret: Secret, name: string): SignatureFinding[] {
  if (typeof secret !== "string") return [];
  for (const { code, what, fix } of secretMistakes(secret)) {
    if (code !== "secret_is_api_key" && code !== "secret_is_endpoint_id" && code !== "secret_has_other_length")
      continue;
    return [{ code, message: `${name} ${what}.`, fix }];
  }
  return [];
}
