/** A string format that every sample had. */
export const STRING_FORMATS = ["email", "datetime", "uuid", "url"] as const;

export type StringFormat = (typeof STRING_FORMATS)[number];

/** The schema of a value, as plain JSON; printed as zod code. */
export type SchemaNode =
  | { kind: "unknown" }
  | { kind: "boolean" }
  | { kind: "number"; whole: boolean }
  /** `prefix`: the beginning of every sample, such as `msg_`. */
  | { kind: "string"; format: StringFormat | null; prefix: string | null }
  | { kind: "enum"; values: readonly string[] }
  | { kind: "array"; element: SchemaNode }
  | { kind: "object"; fields: readonly (readonly [key: string, field: SchemaField])[] }
  | { kind: "record"; value: SchemaNode }
  | { kind: "union"; members: readonly SchemaNode[] }
  | { kind: "nullable"; inner: SchemaNode };

export interface SchemaField {
  schema: SchemaNode;
  /** True if some samples did not have it. */
  optional: boolean;
}
