import { waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { LATE, inTime } from "../../base/wait.js";
import { nameOfDatabase } from "../connection-string.js";
import type { InboxOperator } from "../inbox-operator.js";
import type { BesideReceivers } from "./open-beside-receivers.js";
import { operateDatabase } from "./open-inbox-database.js";
import type { PostgresPlace } from "./open-postgres.js";
import type { Sql } from "./sql.js";

/** At the same time, so that handlers find connections in the pool. */
const MAX_AT_ONCE = 2;

/** A person waits for no longer, for the turn and the work together, in milliseconds: a server may hang. */
const ANSWERS_WITHIN_MS = 8 * SECOND;

/** Nobody waits for a page of a job, which has several statements. In milliseconds. */
const PAGES_WITHIN_MS = 60 * SECOND;

type RunInPool = <Value>(doing: string, use: (sql: Sql) => Promise<Value>, withinMs: number) => Promise<Value>;

interface PoolParts {
  read: RunInPool;
  write: RunInPool;
  /** The database's time, as the receiver's clock has it, in milliseconds since 1970. */
  now: () => number;
  /** Time that never jumps, in milliseconds. */
  elapsed: () => number;
}

/** The operator's view on connections of the pool that the store uses, a few at a time. */
export function operateInPool(place: PostgresPlace, { read, write, now, elapsed }: PoolParts): InboxOperator {
  const inTurn = takeTurns(MAX_AT_ONCE);
  const within = (withinMs: number): BesideReceivers => {
    const inTurnAndLimit = inTurnAndTime(inTurn, withinMs);
    return {
      now,
      read: (doing, use) => inTurnAndLimit(doing, () => read(doing, use, withinMs)),
      write: (doing, use) => inTurnAndLimit(doing, () => write(doing, (sql) => use(sql, now()), withinMs)),
    };
  };
  return operateDatabase({
    database: nameOfPlace(place),
    schema: place.schema,
    beside: within(ANSWERS_WITHIN_MS),
    pages: within(PAGES_WITHIN_MS),
    elapsed,
    // The pool is the store's.
    close: () => Promise.resolve(),
  });
}

/**
 * Takes turns, and waits for the turn and the work together no longer than `withinMs`: then rejects with
 * `store_unreachable`. Work whose turn comes later is not begun; work under way goes on.
 */
function inTurnAndTime(inTurn: ReturnType<typeof takeTurns>, withinMs: number) {
  return async <Value>(doing: string, work: () => Promise<Value>): Promise<Value> => {
    let isLate = false;
    const late = (): PigeonholeError =>
      new PigeonholeError(
        "store_unreachable",
        `${doing} failed: no answer from PostgreSQL within ${withinMs / SECOND} s. It hangs, or is too busy.`,
      );
    const result = await inTime(
      inTurn(() => (isLate ? Promise.reject(late()) : work())),
      waitingClock,
      withinMs,
    );
    if (result !== LATE) return result;
    isLate = true;
    throw late();
  };
}

/** Runs at most so many at the same time, the others in the order of their calls. */
function takeTurns(most: number): <Value>(work: () => Promise<Value>) => Promise<Value> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < most) running += 1;
    // It gets the place of one that has ended.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** For people, without the password. */
function nameOfPlace({ pool, schema }: PostgresPlace): string {
  const after = schema === "pigeonhole" ? "" : `#${schema}`;
  if (typeof pool === "string") return nameOfDatabase(pool) + after;
  const { connectionString, host = "localhost", port, database = "" } = pool.options;
  if (connectionString !== undefined) return nameOfDatabase(connectionString) + after;
  return `postgres://${host}${port === undefined ? "" : `:${port}`}/${database}${after}`;
}
