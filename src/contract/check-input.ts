import type { z } from "zod";
import type { ApiErrorCode } from "./api-error-codes.js";

/** The codes of the service for input that it refuses; see docs/service.md#errors. */
export type ValidationCode = Extract<
  ApiErrorCode,
  | "invalid_parameter"
  | "unknown_parameter"
  | "invalid_event"
  | "invalid_webhook_url"
  | "invalid_idempotency_key"
  | "invalid_cursor"
  | "mailbox_address_invalid"
>;

/** What is wrong with an input, named as the service would name it. Contains no value of the input. */
export interface ValidationIssue {
  /** The service's code for it; see docs/service.md#errors. */
  code: ValidationCode;
  /** Dotted path of the field, such as `events.3.name`; empty for the whole input. */
  param: string;
  /** The rule. */
  message: string;
}

/**
 * A rule about a checked body that needs the time, in milliseconds since 1970. Called with the output of the row's
 * schema.
 */
export type ClockRule = (body: never, nowMs: number) => ValidationIssue | undefined;

/** A checked value, or what is wrong with it. */
export type Checked<Value> = { ok: true; value: Value } | { ok: false; issue: ValidationIssue };

/**
 * Checks an input against a schema. `codes`: field → the code to use when its value breaks a rule; `*` → the code for a
 * field that the schema does not have.
 */
export function checkInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  codes: Readonly<Record<string, ValidationCode>> = {},
): Checked<z.output<Schema>> {
  const read = schema.safeParse(input);
  if (read.success) return { ok: true, value: read.data };
  const [issue] = read.error.issues;
  if (issue !== undefined) return { ok: false, issue: issueFrom(issue, codes) };
  return { ok: false, issue: { code: "invalid_parameter", param: "", message: "The input cannot be used." } };
}

/** Every issue of an input, in the schema's order; empty when there is none. `codes` as in {@link checkInput}. */
export function findIssues(
  schema: z.ZodType,
  input: unknown,
  codes: Readonly<Record<string, ValidationCode>> = {},
): ValidationIssue[] {
  return (schema.safeParse(input).error?.issues ?? []).map((issue) => issueFrom(issue, codes));
}

function issueFrom(issue: z.core.$ZodIssue, codes: Readonly<Record<string, ValidationCode>>): ValidationIssue {
  if (issue.code === "unrecognized_keys") {
    const param = paramOf([...issue.path, issue.keys[0] ?? ""]);
    return { code: codes["*"] ?? "unknown_parameter", param, message: "There is no such parameter." };
  }
  return { code: codeOf(issue, codes), param: paramOf(issue.path), message: issue.message };
}

function codeOf(issue: z.core.$ZodIssue, codes: Readonly<Record<string, ValidationCode>>): ValidationCode {
  // A value of the wrong type is always invalid_parameter. The other codes are for broken rules.
  if (issue.code === "invalid_type") return "invalid_parameter";
  if (issue.code === "custom" && issue.params?.["code"] !== undefined) return issue.params["code"] as ValidationCode;
  const field = issue.path.find((part) => typeof part === "string" && Object.hasOwn(codes, part));
  return (field === undefined ? undefined : codes[String(field)]) ?? "invalid_parameter";
}

function paramOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".");
}
