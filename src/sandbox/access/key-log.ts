import type { Clock } from "../../base/clock.js";
import type { PageBody } from "../api/page-rows.js";
import { pageRows } from "../api/page-rows.js";
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

interface Logged {
  sequence: number;
  keyId: string;
  atMs: number;
}

type LoggedCallRow = LoggedCall & Logged;

interface LoggedChange extends Logged {
  kind: KeyChange;
  actor: Actor;
  /** `app` for what was done by hand. */
  source: "api" | "app";
}

/** Which rows of a log are wanted. */
export interface LogFilter {
  keyIds?: readonly string[] | undefined;
  failedOnly?: boolean | undefined;
  since?: string | undefined;
  until?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
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
  readonly #requests: LoggedCallRow[] = [];
  readonly #changes: LoggedChange[] = [];
  #sequence = 0;

  constructor(options: KeyLogOptions) {
    this.#options = options;
  }

  addRequest(request: LoggedCall): void {
    this.#requests.push({ ...request, ...this.#next() });
    this.#forgetOldest(this.#requests);
  }

  addChange(change: Pick<LoggedChange, "keyId" | "kind" | "actor" | "source">): void {
    this.#changes.push({ ...change, ...this.#next() });
    this.#forgetOldest(this.#changes);
  }

  /** One page of the calls, newest first. Throws 400 `invalid_cursor`. */
  requestPage(filter: LogFilter, isVisible: (keyId: string) => boolean): PageBody<object> {
    const rows = this.#requests.filter(({ status }) => filter.failedOnly !== true || status >= 400);
    return this.#page(rows, { list: "keys.requests", filter, isVisible }, (row) => {
      const { keyId, method, path, status, errorCode, durationMs, ip, userAgent } = row;
      return { keyId, keyName: this.#nameOf(keyId), method, path, status, errorCode, durationMs, ip, userAgent };
    });
  }

  /** One page of the changes, newest first. Throws 400 `invalid_cursor`. */
  changePage(filter: LogFilter, isVisible: (keyId: string) => boolean): PageBody<object> {
    return this.#page(this.#changes, { list: "keys.activity", filter, isVisible }, ({ keyId, kind, actor, source }) => {
      const by = actorName(actor, this.#options.nameOf);
      return { keyId, keyName: this.#nameOf(keyId), actor: by, kind, detail: { source } };
    });
  }

  clear(): void {
    this.#requests.length = 0;
    this.#changes.length = 0;
  }

  /** A tenth at once, since each removal moves all that remain. */
  #forgetOldest(rows: unknown[]): void {
    const { maxRows } = this.#options;
    if (rows.length > maxRows) rows.splice(0, Math.ceil(maxRows / 10));
  }

  #nameOf(keyId: string): string {
    return this.#options.nameOf(keyId) ?? DELETED_KEY;
  }

  #next(): { sequence: number; atMs: number } {
    this.#sequence += 1;
    return { sequence: this.#sequence, atMs: this.#options.clock.now() };
  }

  #page<Row extends Logged>(
    all: readonly Row[],
    { list, filter, isVisible }: { list: string; filter: LogFilter; isVisible: (keyId: string) => boolean },
    bodyOf: (row: Row) => object,
  ): PageBody<object> {
    const { keyIds, failedOnly = false, since, until, limit, cursor } = filter;
    const [sinceMs, untilMs] = [Date.parse(since ?? ""), Date.parse(until ?? "")];
    const rows = all.filter(
      ({ keyId, atMs }) =>
        (keyIds === undefined || keyIds.includes(keyId)) && !(atMs < sinceMs) && !(atMs >= untilMs) && isVisible(keyId),
    );
    const page = pageRows({
      list: `${list} ${JSON.stringify([keyIds, failedOnly, since, until])}`,
      rows,
      positionOf: ({ sequence }) => [sequence],
      limit,
      cursor,
    });
    const data = page.data.map((row) => ({
      id: String(row.sequence),
      ...bodyOf(row),
      createdAt: new Date(row.atMs).toISOString(),
    }));
    return { ...page, data };
  }
}
