/** The fields of the search language with a fixed name. Data without code, which every command loads. */
export const QUERY_FIELD_NAMES = [
  "type",
  "status",
  "outcome",
  "verdict",
  "is",
  "has",
  "source",
  "tag",
  "after",
  "before",
  "id",
] as const;

export type QueryFieldName = (typeof QUERY_FIELD_NAMES)[number];
