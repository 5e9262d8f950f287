/** A string format that every sample had. */
export const STRING_FORMATS = ["email", "datetime", "uuid", "url"] as const;

export type StringFormat = (typeof STRING_FORMATS)[number];

/** The schema of a value; printed as zod code, and parsed back from it. */
export type SchemaNode =
  | { kind: "unknown" }
  | { kind: "boolean" }
  | { kind: "number"; whole: boolean }
  /** `prefix`: the beginning of every sample, such as `msg_`. */
  | { kind: "string"; format: StringFormat | null; prefix: string | null }
  | { kind: "enum"; values: readonly string[] }
  | { kind: "array"; element: SchemaNode }
  | { kind: "object"; fields: ReadonlyMap<string, SchemaField> }
  | { kind: "record"; value: SchemaNode }
  | { kind: "union"; members: readonly SchemaNode[] }
  | { kind: "nullable"; inner: SchemaNode };

export interface SchemaField {
  schema: SchemaNode;
  /** True if some samples did not have it. */
  optional: boolean;
}
