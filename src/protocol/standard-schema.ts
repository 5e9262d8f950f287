/** A schema of a library that implements Standard Schema 1 (https://standardschema.dev): zod 4, Valibot, ArkType. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a schema makes of a value. */
export type SchemaResult<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** What does not fit. The library's message is left out, since it can quote the value. */
export interface SchemaIssue {
  /** The keys that lead to it. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of what a schema returns. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

export function isStandardSchema(value: unknown): value is StandardSchema {
  const { version, validate } = (value as Partial<StandardSchema> | null | undefined)?.["~standard"] ?? {};
  return version === 1 && typeof validate === "function";
}
