import { timingSafeEqual } from "node:crypto";
import { deliveryMac } from "./delivery-mac.js";
import { bodyHints, bodyVariants } from "./explain-body.js";
import { secretHints, secretVariants } from "./explain-secret.js";
import { prefixVariants } from "./explain-timestamp.js";
import type { SignatureFinding, Variant } from "./explanation.js";
import type { ParsedSignature } from "./parse-signature.js";
import type { Secret } from "./secret.js";

/** A claim that none of the secrets fits. */
export interface Mismatch {
  parsed: ParsedSignature;
  body: Uint8Array | string;
  secrets: readonly Secret[];
}

type Key = Secret | Uint8Array;
interface Choice<Value> {
  value: Value;
  findings: readonly SignatureFinding[];
}

/** Two causes at once are looked for in bodies up to this size; each try costs one MAC over the body. */
const PAIRS_MAX_BYTES = 256 * 1024;

/** Looks for the one or two changes under which the signature fits; failing that, for what looks wrong. */
export function explainMismatch(mismatch: Mismatch): SignatureFinding[] {
  return findCause(mismatch) ?? hints(mismatch);
}

function findCause({ parsed, body, secrets }: Mismatch): SignatureFinding[] | undefined {
  const fits = (key: Key, prefix: string, content: Uint8Array | string): boolean => {
    const expected = deliveryMac(key, prefix, content);
    return parsed.signatures.some((signature) => timingSafeEqual(expected, signature));
  };
  const keys = secrets.flatMap((secret, index) => choices<Key>(secret, secretVariants(secret, secretName(index))));
  const bodies = choices(body, bodyVariants(body));
  const prefixes = choices(`${parsed.timestampText}.`, prefixVariants(parsed));
  const most = body.length <= PAIRS_MAX_BYTES ? 2 : 1;
  for (let changes = 1; changes <= most; changes += 1) {
    for (const key of keys) {
      for (const prefix of prefixes) {
        for (const content of bodies) {
          const findings = [...key.findings, ...prefix.findings, ...content.findings];
          if (findings.length === changes && fits(key.value, prefix.value, content.value)) return findings;
        }
      }
    }
  }
  return undefined;
}

function choices<Value>(given: Value, variants: readonly Variant<Value>[]): Choice<Value>[] {
  return [{ value: given, findings: [] }, ...variants.map(({ value, finding }) => ({ value, findings: [finding] }))];
}

function hints({ body, secrets }: Mismatch): SignatureFinding[] {
  const seen = [...secrets.flatMap((secret, index) => secretHints(secret, secretName(index))), ...bodyHints(body)];
  const which = secrets.length === 1 ? "the secret" : `any of the ${secrets.length} secrets`;
  return [
    ...seen,
    {
      code: "secret_unknown",
      message: `The signature was not made with ${which}, nor under any of the usual mistakes that were tried.`,
      fix:
        "Check that the secret belongs to this endpoint and was not rotated since (a rotation has no overlap), and that " +
        "the body is the raw bytes.",
    },
  ];
}

/** How a secret is called in words: by its position, never by a part of it. */
export function secretName(index: number): string {
  return `secrets[${index}]`;
}
