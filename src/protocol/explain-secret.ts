import type { Secret } from "./delivery-mac.js";
import type { SignatureFinding, Variant } from "./explanation.js";
import { SECRET_SHAPE } from "./limits.js";

const { prefix, keyLength } = SECRET_SHAPE;
const WHOLE_SECRET = "Pass the secret as the service shows it when the endpoint is created, whole and unchanged.";

/** Other keys that may be meant by a secret, each with what would then be wrong. A key object has none. */
export function secretVariants(secret: Secret, name: string): Variant<string | Uint8Array>[] {
  if (typeof secret !== "string") return [];
  const clean = cleanVariant(secret, name);
  const base = clean?.value ?? secret;
  const variants: Variant<string | Uint8Array>[] = clean === undefined ? [] : [clean];
  // A second cause in the same secret is reported under the one that stands out: copying it again fixes both.
  if (!base.startsWith(prefix)) {
    const message = `${name} lacks the prefix ${prefix}; the signature fits with it.`;
    variants.push({ value: prefix + base, finding: { code: "secret_prefix_missing", message, fix: WHOLE_SECRET } });
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

/** The secret without whitespace, quotes and a written-out line end around it; undefined when it has none. */
function cleanVariant(secret: string, name: string): Variant<string> | undefined {
  const trimmed = secret.trim();
  const bare = trimmed
    .replace(/^["'`]+/, "")
    .replace(/(?:["'`]|\\[rn])+$/, "")
    .trim();
  if (bare === secret || bare === "") return undefined;
  if (bare === trimmed) {
    const message = `${name} has whitespace or a line end around it; it would match after trimming.`;
    const fix = "Trim the value where it is read, or remove the line end from the file or variable that holds it.";
    return { value: bare, finding: { code: "secret_has_whitespace", message, fix } };
  }
  const message = `${name} has quotes or a written-out line end around it; it would match without.`;
  const fix = "Remove the quotes: not every way of setting a variable takes them off.";
  return { value: bare, finding: { code: "secret_has_quotes", message, fix } };
}

/** What can be seen on a secret that fits nothing. */
export function secretHints(secret: Secret, name: string): SignatureFinding[] {
  if (typeof secret !== "string") return [];
  const text = secret.trim();
  if (/^["']?svc_(?:live|test)_/.test(text)) {
    const message = `${name} is an API key, not a webhook secret.`;
    const fix = `Use the secret of the endpoint, which starts with ${prefix}; it is shown when the endpoint is created.`;
    return [{ code: "secret_is_api_key", message, fix }];
  }
  if (/^["']?whe_/.test(text)) {
    const message = `${name} is the id of an endpoint, not its secret.`;
    const fix = `Use the secret, which starts with ${prefix}; rotate it if it was not kept.`;
    return [{ code: "secret_is_endpoint_id", message, fix }];
  }
  const length = text.length - prefix.length;
  if (!text.startsWith(prefix) || length === keyLength) return [];
  const message = `${name} has ${length} characters after ${prefix}, where the service makes ${keyLength}.`;
  return [{ code: "secret_has_other_length", message, fix: `Perhaps it was cut when copied. ${WHOLE_SECRET}` }];
}
