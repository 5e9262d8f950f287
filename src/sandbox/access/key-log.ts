import type { Clock } from "../../base/clock.js";
import { Collection, type CollectionRow } from "../api/collection.js";
import { type PageQuery, isWithin, pageBody } from "../api/page-rows.js";
import { isoNow } from "../clock/sandbox-time.js";
import { type Actor, DELETED_KEY } from "./actor.js";

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

/** Something that was done to a key. */
export interface LoggedChange {
  keyId: string;
  kind: KeyChange;
  actor: Actor;
  /** `app` for what was done by hand. */
  source: "api" | "app";
}

interface Logged<Entry> extends CollectionRow {
  entry: Entry;
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
  /** Name of the list. */
  list: string;
  clock: Clock;
  /** The name of a key; undefined for one that was deleted. */
  nameOf: (keyId: string) => string | undefined;
  /** Most rows; then the oldest are forgotten. */
  maxRows: number;
}

/**
 * The calls of API keys, or what was done to them. The service prunes nothing; here memory has a limit. See
 * docs/service.md#key-logs.
 */
export class KeyLog<Entry extends { keyId: string; status?: number }> {
  readonly #options: KeyLogOptions;
  readonly #rows: Collection<Logged<Entry>>;

  constructor(options: KeyLogOptions) {
    this.#options = options;
    this.#rows = new Collection({ kind: options.list, keeps: options.maxRows });
  }

  add(entry: Entry): void {
    this.#rows.add({ entry, createdAt: isoNow(this.#options.clock) });
  }

  /** One page, newest first, each row with the name of its key. Throws 400 `invalid_cursor`. */
  page(filter: LogFilter, isVisible: (keyId: string) => boolean) {
    const { keyIds, failedOnly = false, since, until, ...query } = filter;
    const { list, nameOf } = this.#options;
    const isWanted = ({ keyId, status = 0 }: Entry): boolean =>
      isVisible(keyId) && (keyIds === undefined || keyIds.includes(keyId)) && (!failedOnly || status >= 400);
    const where = ({ entry, createdAt }: Logged<Entry>): boolean =>
      isWanted(entry) && isWithin(createdAt, { since, until });
    const page = this.#rows.page({ list, filters: [keyIds, failedOnly, since, until], where, ...query });
    return pageBody(page, ({ id, entry, createdAt }) => {
      return { id, ...entry, createdAt, keyName: nameOf(entry.keyId) ?? DELETED_KEY };
    });
  }

  clear(): void {
    this.#rows.clear();
  }
}
