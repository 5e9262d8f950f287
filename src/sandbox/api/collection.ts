import { PigeonholeError } from "../../base/error.js";
import type { Changes } from "../../base/options.js";
import type { ApiErrorCode } from "../../contract/api-error-codes.js";
import { SandboxApiError } from "./api-handlers.js";
import { type PageBody, type Sorting, pageSorted } from "./page-rows.js";

/** What a collection holds. */
export interface CollectionRow {
  readonly id: string;
  /** Increases with every row: its position in the order of creation. */
  readonly sequence: number;
}

/** A refusal that the caller of the API gets. */
export interface Refusal {
  code: ApiErrorCode;
  param?: string;
}

export interface CollectionOptions<Row> {
  /** `object` of the tombstones, such as `label`. */
  kind: string;
  /** What an unknown id is answered. @default 404 `resource_not_found` */
  missing?: Refusal;
  /** Most rows of one group, and what another one is answered. @default no limit */
  limit?: Refusal & { max: number; groupOf?: (row: Row) => string };
  /** What no two rows may have in common, such as a name without case. @default nothing but the id */
  unique?: Refusal & { keysOf: (row: Row) => readonly string[] };
}

/** What a list shows of a collection. */
export interface ListOf<Row extends CollectionRow> {
  /** Name of the list. With the filters, it is what a cursor belongs to. */
  list: string;
  /** The caller's filters, and what else decides which rows there are. @default none */
  filters?: readonly unknown[];
  /** True for a row of the list. @default every row */
  where?: (row: Row) => boolean;
  /** The orders that the list has, the usual one first. @default newest first */
  sortings?: Readonly<Record<string, Sorting<Row>>>;
  /** The order that the caller asks for. @default the usual one */
  sort?: string | undefined;
  /** Rows of a page. @default 25 */
  limit?: number | undefined;
  cursor?: string | undefined;
  /** The query parameter of the cursor, which a refusal names. @default "cursor" */
  pageParam?: string;
  /** True: a full page says that more follows, whether it does or not. @default false */
  alwaysMore?: boolean;
}

/** What may be changed of a row. */
export type CollectionChanges<Row extends CollectionRow> = Changes<Omit<Row, keyof CollectionRow>>;

/**
 * The rows of one resource, with the rules that all resources share: ids, caps, unique names, tombstones and pages.
 * Refusals are SandboxApiErrors, and leave the collection as it was.
 */
export class Collection<Row extends CollectionRow> {
  readonly #options: CollectionOptions<Row>;
  readonly #rows = new Map<string, Row>();
  #added = 0;

  constructor(options: CollectionOptions<Row>) {
    this.#options = options;
  }

  /** Every row, oldest first. */
  get rows(): readonly Row[] {
    return [...this.#rows.values()];
  }

  /** Adds the row that is made with the next number. Throws when the cap is reached, or its id or keys are taken. */
  add(make: (sequence: number) => Row): Row {
    const row = make(this.#added + 1);
    this.#checkUnique(row);
    if (this.#rows.has(row.id)) throw this.#idTaken();
    this.#checkLimit(row);
    this.#added += 1;
    this.#rows.set(row.id, row);
    return row;
  }

  find(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** The row with this id. Throws when there is none, or when the caller does not see it. */
  get(id: string, isVisible: (row: Row) => boolean = () => true): Row {
    const row = this.#rows.get(id);
    if (row !== undefined && isVisible(row)) return row;
    throw new SandboxApiError(this.#options.missing ?? { code: "resource_not_found" });
  }

  /** Replaces fields of a row, which keeps its place; undefined leaves one as it is. Throws when new keys are taken. */
  change(id: string, changes: CollectionChanges<Row>): Row {
    const sent = Object.entries(changes).filter(([, value]) => value !== undefined);
    const row: Row = { ...this.get(id), ...Object.fromEntries(sent) };
    this.#checkUnique(row);
    this.#rows.set(id, row);
    return row;
  }

  /** Removes a row and returns its tombstone. `more`: what the tombstone has besides the id. */
  delete(id: string, more: object = {}): object {
    const row = this.get(id);
    this.#rows.delete(row.id);
    return { object: this.#options.kind, id: row.id, ...more, deleted: true };
  }

  /** One page of a list. Throws 400 `invalid_cursor`. */
  page(input: ListOf<Row>): PageBody<Row> {
    const { list, filters = [], where = () => true, sort, limit, cursor, pageParam, alwaysMore } = input;
    const { sortings = { newest: { positionOf: ({ sequence }) => [sequence] } } } = input;
    const rows = this.rows.filter(where);
    const name = `${list} ${JSON.stringify(filters)}`;
    return pageSorted({ list: name, rows, sortings, sort, limit, cursor, pageParam, alwaysMore });
  }

  /** Forgets every row. The numbers go on, so that no later row has the id of a forgotten one. */
  clear(): void {
    this.#rows.clear();
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
    const { keysOf, ...refusal } = unique;
    const keys = keysOf(row);
    const isTaken = this.rows.some((other) => other.id !== row.id && keysOf(other).some((key) => keys.includes(key)));
    if (isTaken) throw new SandboxApiError(refusal);
  }

  /** An id that is made from a name is taken as the name is. Any other is a mistake in the options of the sandbox. */
  #idTaken(): Error {
    const { kind, unique } = this.#options;
    if (unique === undefined)
      return new PigeonholeError("invalid_option", `Two rows of kind ${kind} have the same id.`);
    const { keysOf: _, ...refusal } = unique;
    return new SandboxApiError(refusal);
  }
}

/** The row without its number, which is not sent. */
export function withoutSequence<Row extends CollectionRow>(row: Row): Omit<Row, "sequence"> {
  const { sequence: _, ...rest } = row;
  return rest;
}

/** The page with each row as it is sent. */
export function pageBody<Row>(page: PageBody<Row>, bodyOf: (row: Row) => object): PageBody<object> {
  return { ...page, data: page.data.map(bodyOf) };
}
