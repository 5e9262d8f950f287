import { nameOfDatabase } from "../connection-string.js";
import type { InboxOperator } from "../inbox-operator.js";
import { operateDatabase } from "./open-inbox-database.js";
import type { PostgresPlace } from "./open-postgres.js";
import { readServerTime } from "./operations/server-time.js";
import type { Sql } from "./sql.js";

/** At the same time, so that handlers find connections in the pool. */
const MAX_AT_ONCE = 2;

type RunInPool = <Value>(doing: string, use: (sql: Sql) => Promise<Value>) => Promise<Value>;

/** The operator's view on connections of the pool that the store uses, a few at a time. */
export function operateInPool(
  place: PostgresPlace,
  { read, write }: { read: RunInPool; write: RunInPool },
): InboxOperator {
  const inTurn = takeTurns(MAX_AT_ONCE);
  return operateDatabase({
    database: nameOfPlace(place),
    schema: place.schema,
    beside: {
      read: (doing, use) => inTurn(() => read(doing, use)),
      write: (doing, use) => inTurn(() => write(doing, async (sql) => use(sql, await readServerTime(sql)))),
    },
    // The pool is the store's.
    close: () => Promise.resolve(),
  });
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
