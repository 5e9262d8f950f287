import { elapsedBy, systemClock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import { eraseAll } from "../erase.js";
import type { InboxOperator } from "../inbox-operator.js";
import { operateByQueries } from "../operate-by-queries.js";
import { erasePage } from "../queries/erase.js";
import type { QueryRunner } from "../query-runner.js";
import { hasLiveProcess, lockClassOf } from "./advisory-lock.js";
import type { BesideReceivers, OpenBeside } from "./open-beside-receivers.js";

/**
 * Opens the database of receivers to list, retry and discard their events, at a place as commands take it. Rejects
 * with `invalid_argument` without tables, `schema_too_old`, `schema_too_new`, `not_a_pigeonhole_database`, or what
 * keeps it from being reached.
 */
export async function openInboxDatabase(place: string): Promise<InboxOperator> {
  const { openBesideReceivers } = await import("./open-beside-receivers.js");
  return operateDatabase(await openBesideReceivers(place));
}

/** Rows of one transaction, which holds their locks. */
const PAGE_ROWS = 200;

/**
 * The operator's view through connections, which the view closes with itself. `pages`: where pages of jobs run;
 * `elapsed`: time that never jumps, in milliseconds.
 */
export function operateDatabase({
  database,
  schema,
  beside,
  pages = beside,
  elapsed = () => elapsedBy(systemClock),
  close,
}: OpenBeside & { pages?: BesideReceivers; elapsed?: () => number }): InboxOperator {
  const { read, write } = beside;
  const pace = { rows: PAGE_ROWS, together: PAGE_ROWS, heldMs: Infinity, pauseMs: 0, elapsed };
  const runnerOf = (on: BesideReceivers): QueryRunner => ({
    database,
    pace,
    read: (doing, query) => on.read(doing, (sql) => sql.perform(query())),
    readAt: (doing, query) => on.read(doing, async (sql) => sql.perform(query(await on.now(sql)))),
    write: (doing, query) => on.write(doing, (sql, at) => sql.perform(query(at))),
  });
  return {
    database,
    ...operateByQueries(runnerOf(beside), runnerOf(pages)),
    hasReceiver: () => read("looking for receivers", (sql) => hasLiveProcess(sql, lockClassOf(schema))),
    async erase({ email, dryRun = false }) {
      const counts = await eraseAll((cursor) =>
        write("erasing", (sql, now) => sql.perform(erasePage({ email, now, dryRun, cursor }))),
      );
      return { ...counts, walLeft: null };
    },
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    async backUp() {
      throw new PigeonholeError(
        "invalid_argument",
        `${database} is a PostgreSQL, which has programs of its own for copies: pg_dump --schema=${schema} for the inbox alone, or pg_basebackup and the backups of your provider for all of it.`,
      );
    },
    close,
  };
}
