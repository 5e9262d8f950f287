import type { FindingCode, SignatureFinding, Variant } from "./explanation.js";
import { PASS_WHOLE_SECRET, type Secret, SECRET_SHAPE, secretMistakes, wrapping } from "./secret.js";

const { prefix } = SECRET_SHAPE;

/** Other keys that may be meant by a secret, each with what would then be wrong. A key object has none. */
export function secretVariants(secret: Secret, name: string): Variant<string | Uint8Array>[] {
  if (typeof secret !== "string") return [];
  const clean = cleanVariant(secret, name);
  const base = clean?.value ?? secret;
  const variants: Variant<string | Uint8Array>[] = clean === undefined ? [] : [clean];
  // A second cause in the same secret is reported under the one that stands out: copying it again fixes both.
  const add = (value: string | Uint8Array, code: FindingCode, message: string, fix: string): void =>
    void variants.push({ value, finding: { code, message, fix } });
  if (!base.startsWith(prefix)) {
    const message = `${name} lacks the prefix ${prefix}; the signature fits with it.`;
    add(prefix + base, "secret_prefix_missing", message, PASS_WHOLE_SECRET);
    return variants;
  }
  const rest = base.slice(prefix.length);
  if (rest === "") return variants;
  const bare = `The signature fits ${name} without its prefix ${prefix}: the sender left the prefix out of the key.`;
  const whole = `Sign with the whole secret, as the service does; ${prefix} belongs to the key.`;
  add(rest, "secret_prefix_not_signed", bare, whole);
  const decoded = `The signature fits the base64-decoded part of ${name} after ${prefix}: that is the Standard Webhooks key.`;
  const asText =
    "Sign with the secret as text, as the service does; libraries for Standard Webhooks or Svix decode it.";
  add(Buffer.from(rest, "base64"), "secret_base64_decoded", decoded, asText);
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
