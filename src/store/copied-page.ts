/** A row of a table of the store, by its columns, which have the same names in both databases. */
export type TableRow = Record<string, string | number | null | Uint8Array>;

/** Rows on their way from one database into another, with the numbers that they have in the first. */
export interface CopiedPage {
  /** Events, or contact events. */
  rows: TableRow[];
  /** By table: what belongs to these rows. */
  beside: Record<string, TableRow[]>;
  /** Where the next page begins; undefined on the last one. */
  after: number | undefined;
}
