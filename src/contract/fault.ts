import type { z } from "zod";

/** The codes of the service for input that it refuses; see docs/service.md#errors. */
export type FaultCode =
  | "invalid_parameter"
  | "unknown_parameter"
  | "invalid_event"
  | "invalid_webhook_url"
  | "invalid_idempotency_key"
  | "invalid_cursor";

/** What is wrong with an input, named as the service would name it. Contains no value of the input. */
export interface Fault {
  code: FaultCode;
  /** Dotted path of the field, such as `events.3.name`; empty for the whole input. */
  param: string;
  /** The rule. */
  message: string;
}

/**
 * A rule about a checked body that needs the time, in milliseconds since 1970. Called with the output of the row's
 * schema.
 */
export type ClockRule = (body: never, nowMs: number) => Fault | undefined;

export type Checked<Value> = { ok: true; value: Value } | { ok: false; fault: Fault };

/** Checks an input against a schema. `codes`: field → the code to use when its value breaks a rule. */
export function checkInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  codes: Readonly<Record<string, FaultCode>> = {},
): Checked<z.output<Schema>> {
  const read = schema.safeParse(input);
  if (read.success) return { ok: true, value: read.data };
  const [issue] = read.error.issues;
  if (issue !== undefined) return { ok: false, fault: faultOf(issue, codes) };
  return { ok: false, fault: { code: "invalid_parameter", param: "", message: "The input cannot be used." } };
}

/** Every fault of an input, in the schema's order; empty when there is none. `codes` as in {@link checkInput}. */
export function findFaults(
  schema: z.ZodType,
  input: unknown,
  codes: Readonly<Record<string, FaultCode>> = {},
): Fault[] {
  return (schema.safeParse(input).error?.issues ?? []).map((issue) => faultOf(issue, codes));
}

function faultOf(issue: z.core.$ZodIssue, codes: Readonly<Record<string, FaultCode>>): Fault {
  if (issue.code === "unrecognized_keys") {
    const param = paramOf([...issue.path, issue.keys[0] ?? ""]);
    return { code: "unknown_parameter", param, message: "There is no such parameter." };
  }
  return { code: codeOf(issue, codes), param: paramOf(issue.path), message: issue.message };
}

function codeOf(issue: z.core.$ZodIssue, codes: Readonly<Record<string, FaultCode>>): FaultCode {
  // A value of the wrong type is always invalid_parameter. The other codes are for broken rules.
  if (issue.code === "invalid_type") return "invalid_parameter";
  if (issue.code === "custom" && issue.params?.["code"] !== undefined) return issue.params["code"] as FaultCode;
  const field = issue.path.find((part) => typeof part === "string" && Object.hasOwn(codes, part));
  return (field === undefined ? undefined : codes[String(field)]) ?? "invalid_parameter";
}

function paramOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".");
}
