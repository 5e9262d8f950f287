import type { Clock } from "../../base/clock.js";
import { Collection, type CollectionList, type CollectionRow } from "../api/collection.js";
import { type PageBody, type PageQuery, isWithin, pageBody } from "../api/page-rows.js";
import { isoNow } from "../clock/sandbox-time.js";
import { type Actor, DELETED_KEY, actorName } from "./actor.js";

/** What happened to a key. */
export type KeyChange =
  | "created"
  | "updated"
  | "rotated"
  | "deactivated"
  | "reactivated"
  | "revoked"
  | "deleted"
  | "authentication_refused";

/** A call that a key made, as it is logged: no body and no query. */
export interface LoggedCall {
  keyId: string;
  method: string;
  path: string;
  status: number;
  errorCode: string | null;
  durationMs: number;
  ip: string | null;
  userAgent: string | null;
}

interface LoggedChange {
  keyId: string;
  kind: KeyChange;
  actor: Actor;
  /** `app` for what was done by hand. */
  source: "api" | "app";
}

interface Logged extends CollectionRow {
  keyId: string;
  createdAt: string;
}

/** Which rows of a log are wanted. */
export interface LogFilter extends PageQuery {
  keyIds?: readonly string[] | undefined;
  failedOnly?: boolean | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

interface KeyLogOptions {
  clock: Clock;
  /** The name of a key; undefined for one that was deleted. */
  nameOf: (keyId: string) => string | undefined;
  /** Most rows of each of the two lists; then the oldest are forgotten. */
  maxRows: number;
}

/**
 * The calls of API keys, and what was done to them. The service prunes nothing; here memory has a limit. See
 * docs/service.md#key-logs.
 */
export class KeyLog {
  readonly #options: KeyLogOptions;
  readonly #requests: Collection<LoggedCall & Logged>;
  readonly #changes: Collection<LoggedChange & Logged>;

  constructor(options: KeyLogOptions) {
    this.#options = options;
    this.#requests = new Collection({ kind: "api_key_request", keeps: options.maxRows });
    this.#changes = new Collection({ kind: "api_key_activity", keeps: options.maxRows });
  }

  addRequest(request: LoggedCall): void {
    this.#requests.add({ ...request, createdAt: isoNow(this.#options.clock) });
  }

  addChange(change: LoggedChange): void {
    this.#changes.add({ ...change, createdAt: isoNow(this.#options.clock) });
  }

  /** One page of the calls, newest first. Throws 400 `invalid_cursor`. */
  requestPage(filter: LogFilter, isVisible: (keyId: string) => boolean): PageBody<object> {
    const isWanted = ({ status }: LoggedCall): boolean => filter.failedOnly !== true || status >= 400;
    const page = this.#requests.page(listOf("keys.requests", filter, (row) => isVisible(row.keyId) && isWanted(row)));
    return pageBody(page, (row) => ({ ...row, keyName: this.#nameOf(row.keyId) }));
  }

  /** One page of the changes, newest first. Throws 400 `invalid_cursor`. */
  changePage(filter: LogFilter, isVisible: (keyId: string) => boolean): PageBody<object> {
    const page = this.#changes.page(listOf("keys.activity", filter, (row) => isVisible(row.keyId)));
    return pageBody(page, ({ source, actor, ...row }) => ({
      ...row,
      keyName: this.#nameOf(row.keyId),
      actor: actorName(actor, this.#options.nameOf),
      detail: { source },
    }));
  }

  clear(): void {
    this.#requests.clear();
    this.#changes.clear();
  }

  #nameOf(keyId: string): string {
    return this.#options.nameOf(keyId) ?? DELETED_KEY;
  }
}

function listOf<Row extends Logged>(
  list: string,
  { keyIds, failedOnly = false, since, until, ...query }: LogFilter,
  isWanted: (row: Row) => boolean,
): CollectionList<Row> {
  const where = (row: Row): boolean =>
    (keyIds === undefined || keyIds.includes(row.keyId)) && isWithin(row.createdAt, { since, until }) && isWanted(row);
  return { list, filters: [keyIds, failedOnly, since, until], where, ...query };
}
