import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type InboxFile, openInboxFile } from "../../store/open-inbox-file.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";

/** Opens the database of `--db`, does the work and closes it again. */
export async function withInboxFile<Result>(
  file: string,
  { cwd }: CommandContext,
  work: (inbox: InboxFile) => Promise<Result>,
): Promise<Result> {
  const path = resolve(cwd, file);
  // SQLite would say only that it cannot open it.
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw usageError(`--db: ${path} is a folder; give the path of a receiver's database in it.`);
  }
  const inbox = await openInboxFile(path);
  try {
    return await work(inbox);
  } finally {
    await inbox.close();
  }
}

/** A page of at most this many rows is asked for at once. */
const PAGE = 500;

/** All rows of a paged list, at most `limit`. */
export async function* allRows<Row>(
  limit: number,
  fetchPage: (query: { limit: number; cursor?: string }) => Promise<{ items: Row[]; nextCursor: string | undefined }>,
): AsyncGenerator<Row> {
  let cursor: string | undefined;
  for (let left = limit; left > 0;) {
    const page = await fetchPage({ limit: Math.min(left, PAGE), ...(cursor !== undefined && { cursor }) });
    yield* page.items;
    left -= page.items.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return;
  }
}
