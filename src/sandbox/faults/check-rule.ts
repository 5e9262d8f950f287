import { PigeonholeError } from "../../base/error.js";
import { checkWholeNumber } from "../../base/option-check.js";

/** The fields that the rules of both lists of faults share. */
export interface CommonRule {
  /** What happens. */
  fault: object;
  /** How likely it is, 0 to 1. @default 1 */
  probability?: number | undefined;
  /** How often it happens before the rule ends. @default no limit */
  times?: number | undefined;
}

/**
 * Checks the shared part of a rule. `fields` are the allowed fields of a rule, `faults` those of each kind of fault. A
 * misspelt field, if ignored, would make the rule match more than intended. Throws `invalid_argument` or
 * `invalid_option`.
 */
export function checkRule(
  rule: CommonRule,
  { fields, faults }: { fields: readonly string[]; faults: Readonly<Record<string, readonly string[]>> },
): void {
  checkFields("A rule", rule, ["fault", "probability", "times", ...fields]);
  const { fault, probability, times } = rule as { fault: unknown; probability?: unknown; times?: number };
  if (probability !== undefined && !(typeof probability === "number" && probability >= 0 && probability <= 1)) {
    throw new PigeonholeError(
      "invalid_argument",
      `probability must be from 0 to 1, got ${JSON.stringify(probability)}.`,
    );
  }
  if (times !== undefined) checkWholeNumber("times", times, { min: 1 });
  const kind: unknown = typeof fault === "object" && fault !== null && "kind" in fault ? fault.kind : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(faults, kind)) {
    throw new PigeonholeError("invalid_argument", `fault.kind must be one of ${Object.keys(faults).join(", ")}.`);
  }
  checkFields(`A fault ${kind}`, fault as object, ["kind", ...(faults[kind] ?? [])]);
}

/** Throws unless the value is omitted or a string. */
export function checkText(field: string, value: string | undefined): void {
  if (value === undefined || typeof value === "string") return;
  throw new PigeonholeError("invalid_argument", `${field} must be a string.`);
}

/** Throws unless the value is omitted or can be sent as Retry-After. */
export function checkRetryAfter(value: string | undefined): void {
  if (value === undefined || (typeof value === "string" && /^[ -~]{1,100}$/.test(value))) return;
  throw new PigeonholeError(
    "invalid_argument",
    'fault.retryAfter must be a string: seconds such as "120", or an HTTP date.',
  );
}

function checkFields(what: string, given: object, fields: readonly string[]): void {
  const other = Object.keys(given).find((field) => !fields.includes(field));
  if (other === undefined) return;
  throw new PigeonholeError(
    "invalid_argument",
    `${what} has no field ${JSON.stringify(other)}; there are ${fields.join(", ")}.`,
  );
}
