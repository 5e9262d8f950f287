import { PigeonholeError } from "../../base/error.js";
import type { Changes } from "../../base/options.js";
import type { ApiErrorCode } from "../../contract/api-error-codes.js";
import { SandboxApiError } from "./api-handlers.js";
import { type ListOf, type Numbered, type PageBody, pageRows } from "./page-rows.js";

/** What a collection holds. */
export interface CollectionRow {
  readonly id: string;
}

/** A refusal that the caller of the API gets. */
export interface Refusal {
  code: ApiErrorCode;
  param?: string;
}

export interface CollectionOptions<Row> {
  /** `object` of the tombstones, such as `label`. */
  kind: string;
  /** Makes the id of a row, of which `sequence` is the number. @default every row is added under an id of its own */
  idOf?: (row: Omit<Row, "id">, sequence: number) => string;
  /** What an unknown id is answered. @default 404 `resource_not_found` */
  missing?: Refusal;
  /** Most rows of one group, and what another one is answered. @default no limit */
  limit?: Refusal & { max: number; groupOf?: (row: Row) => string };
  /** What no two rows may have in common, such as a name without case. @default nothing but the id */
  unique?: Refusal & { keyOf: (row: Row) => string };
  /** Most rows that are kept; then the oldest are forgotten. @default every row */
  keeps?: number;
}

/** What a list shows of a collection. */
export interface CollectionList<Row extends CollectionRow> extends ListOf<Row> {
  /** True for a row of the list. @default every row */
  where?: (row: Row) => boolean;
}

/** What may be changed of a row. */
export type CollectionChanges<Row extends CollectionRow> = Changes<Omit<Row, keyof CollectionRow>>;

/**
 * The rows of one resource, with the rules that all resources share: ids, caps, unique names, tombstones and pages.
 * Refusals are SandboxApiErrors, and leave the collection as it was.
 */
export class Collection<Row extends CollectionRow> {
  readonly #options: CollectionOptions<Row>;
  readonly #entries = new Map<string, Numbered<Row>>();
  #added = 0;

  constructor(options: CollectionOptions<Row>) {
    this.#options = options;
  }

  /** Every row, oldest first. */
  get rows(): readonly Row[] {
    return [...this.#entries.values()].map(({ row }) => row);
  }

  /** Adds a row, under an id that is given or made. Throws when the cap is reached, or its id or key is taken. */
  add(fields: Omit<Row, "id">, id?: string): Row {
    const { idOf = (_, sequence) => String(sequence), keeps = Infinity } = this.#options;
    const sequence = this.#added + 1;
    const row = { id: id ?? idOf(fields, sequence), ...fields } as Row;
    this.#checkUnique(row);
    if (this.#entries.has(row.id)) throw this.#idTaken();
    this.#checkLimit(row);
    this.#added = sequence;
    this.#entries.set(row.id, { row, sequence });
    const [oldest] = this.#entries.size > keeps ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#entries.delete(oldest);
    return row;
  }

  find(id: string): Row | undefined {
    return this.#entries.get(id)?.row;
  }

  /** The row with this id. Throws when there is none, or when the caller does not see it. */
  get(id: string, isVisible: (row: Row) => boolean = () => true): Row {
    const row = this.find(id);
    if (row !== undefined && isVisible(row)) return row;
    throw new SandboxApiError(this.#options.missing ?? { code: "resource_not_found" });
  }

  /** Replaces fields of a row, which keeps its place; undefined leaves one as it is. Throws when a new key is taken. */
  change(id: string, changes: CollectionChanges<Row>): Row {
    const sent = Object.entries(changes).filter(([, value]) => value !== undefined);
    const row: Row = { ...this.get(id), ...Object.fromEntries(sent) };
    this.#checkUnique(row);
    const { sequence = 0 } = this.#entries.get(id) ?? {};
    this.#entries.set(id, { row, sequence });
    return row;
  }

  /** Removes a row and returns its tombstone. `more`: what the tombstone has besides the id. */
  delete(id: string, more: object = {}): object {
    const row = this.get(id);
    this.#entries.delete(row.id);
    return { object: this.#options.kind, id: row.id, ...more, deleted: true };
  }

  /** One page of a list. Throws 400 `invalid_cursor`. */
  page({ where = () => true, ...list }: CollectionList<Row>): PageBody<Row> {
    const entries = [...this.#entries.values()].filter(({ row }) => where(row));
    return pageRows(entries, list);
  }

  /** Forgets every row. The numbers go on, so that no later row has the id of a forgotten one. */
  clear(): void {
    this.#entries.clear();
  }

  #checkLimit(row: Row): void {
    const { limit } = this.#options;
    if (limit === undefined) return;
    const { max, groupOf = () => "", ...refusal } = limit;
    const group = groupOf(row);
    if (this.rows.filter((other) => groupOf(other) === group).length >= max) throw new SandboxApiError(refusal);
  }

  #checkUnique(row: Row): void {
    const { unique } = this.#options;
    if (unique === undefined) return;
    const { keyOf, ...refusal } = unique;
    const key = keyOf(row);
    if (this.rows.some((other) => other.id !== row.id && keyOf(other) === key)) throw new SandboxApiError(refusal);
  }

  /** An id that is made from a name is taken as the name is. Any other is a mistake in the options of the sandbox. */
  #idTaken(): Error {
    const { kind, unique } = this.#options;
    if (unique === undefined)
      return new PigeonholeError("invalid_option", `Two rows of kind ${kind} have the same id.`);
    const { keyOf: _, ...refusal } = unique;
    return new SandboxApiError(refusal);
  }
}
