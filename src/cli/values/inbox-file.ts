import { statSync } from "node:fs";
import { resolve } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { openInbox } from "../../store/open-inbox.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { readVariable } from "./secret-option.js";

/** The variable for the database in projects made by `pigeonhole init`. */
export const DATABASE_VARIABLE = "DATABASE_FILE";

/** The default file of `createReceiver`. */
const DEFAULT_DATABASE = "pigeonhole.db";

/** Path of the database: from `--db`, from the variable, or the default one. Throws if there is no such file. */
export function findInboxFile(given: string | undefined, context: CommandContext): string {
  const named = given ?? readVariable(DATABASE_VARIABLE, context);
  const path = resolve(context.cwd, named ?? DEFAULT_DATABASE);
  const by = given === undefined && named !== undefined ? DATABASE_VARIABLE : "--db";
  const seen = statSync(path, { throwIfNoEntry: false });
  // The error of SQLite would only say that it cannot open the file.
  if (seen?.isDirectory() === true) {
    throw usageError(`${by}: ${path} is a folder; give the path of a receiver's database in it.`);
  }
  if (seen !== undefined) return path;
  const which = named === undefined ? "" : `, which ${by} names`;
  throw new PigeonholeError(
    "invalid_argument",
    `There is no file ${path}${which}. Give the receiver's database with --db, or set ${DATABASE_VARIABLE} in the environment or in .env.`,
  );
}

/** The database that the variable names, or the default one, if it is there. */
export function presentInboxFile(context: CommandContext): string | undefined {
  const path = resolve(context.cwd, readVariable(DATABASE_VARIABLE, context) ?? DEFAULT_DATABASE);
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : undefined;
}

/** Opens the database that {@link findInboxFile} finds, does the work and closes it again. */
export async function withInbox<Result>(
  file: string | undefined,
  context: CommandContext,
  work: (inbox: InboxOperator) => Promise<Result>,
): Promise<Result> {
  const path = findInboxFile(file, context);
  const inbox = await openInbox(path);
  try {
    return await work(inbox);
  } finally {
    await inbox.close();
  }
}

/** Most rows of one page. */
const PAGE = 500;

/** All rows of a paged list, at most `limit`. */
export async function* allRows<Row>(
  limit: number,
  fetchPage: (query: {
    limit: number;
    cursor?: string | undefined;
  }) => Promise<{ items: Row[]; nextCursor: string | undefined }>,
): AsyncGenerator<Row> {
  let cursor: string | undefined;
  for (let left = limit; left > 0;) {
    const page = await fetchPage({ limit: Math.min(left, PAGE), cursor });
    yield* page.items;
    left -= page.items.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return;
  }
}
