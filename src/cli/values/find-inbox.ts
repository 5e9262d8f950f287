import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import { isConnectionString, readDatabasePlace } from "../../store/connection-string.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { openInbox } from "../../store/open-inbox.js";
import type { CommandContext } from "../frame/context.js";
import { type InboxPlace, checkThere, readPlace, usualPlaces } from "./inbox-place.js";

type Opening =
  | { kind: "open"; inbox: InboxOperator }
  /** The database of a URL has no inbox: it may be for the app's own tables alone. */
  | { kind: "without_inbox"; error: PigeonholeError<string> }
  /** It cannot be opened, or is not a receiver's. */
  | { kind: "unusable"; error: PigeonholeError<string> };

/** The receiver's database; close what is open. */
export type InboxSearch = (Opening & { place: InboxPlace }) | { kind: "none"; error: PigeonholeError<string> };

/**
 * The one rule of which database is the receiver's: the first of the places that is no URL of a database without an
 * inbox. `none`: there are no places.
 */
export async function findInbox(places: readonly InboxPlace[]): Promise<InboxSearch> {
  let last: InboxSearch = { kind: "none", error: new PigeonholeError("invalid_argument", "No database is named.") };
  for (const place of places) {
    last = { ...(await open(place.at)), place };
    if (last.kind !== "without_inbox") return last;
  }
  return last;
}

async function open(at: string): Promise<Opening> {
  try {
    return { kind: "open", inbox: await openInbox(at) };
  } catch (error) {
    if (!isPigeonholeError(error)) throw error;
    return { kind: isWithoutInbox(at, error) ? "without_inbox" : "unusable", error };
  }
}

function isWithoutInbox(at: string, error: PigeonholeError<string>): boolean {
  return isConnectionString(at) && isReadable(at) && error.code === "invalid_argument";
}

function isReadable(url: string): boolean {
  try {
    readDatabasePlace(url);
    return true;
  } catch {
    return false;
  }
}

/** Whether a database has an inbox. Rejects if it cannot be opened. */
export async function hasInbox(at: string): Promise<boolean> {
  const opening = await open(at);
  if (opening.kind === "unusable") throw opening.error;
  if (opening.kind === "open") await opening.inbox.close();
  return opening.kind === "open";
}

/** Opens the database of `--db`, or that of the variables or the default one, does the work and closes it again. */
export async function withInbox<Result>(
  given: string | undefined,
  context: CommandContext,
  work: (inbox: InboxOperator) => Promise<Result>,
): Promise<Result> {
  const places = given === undefined ? usualPlaces(context) : [readPlace("--db", given, context)];
  for (const place of places) checkThere(place);
  const found = await findInbox(places);
  if (found.kind !== "open") throw found.error;
  try {
    return await work(found.inbox);
  } finally {
    await found.inbox.close();
  }
}

/** Most rows of one page. */
const PAGE = 500;

/** All rows of a paged list, at most `limit`. */
export async function* allRows<Row>(
  limit: number,
  fetchPage: (query: {
    limit: number;
    cursor?: string | null | undefined;
  }) => Promise<{ items: Row[]; nextCursor: string | null }>,
): AsyncGenerator<Row> {
  let cursor: string | null = null;
  for (let left = limit; left > 0;) {
    const page = await fetchPage({ limit: Math.min(left, PAGE), cursor });
    yield* page.items;
    left -= page.items.length;
    cursor = page.nextCursor;
    if (cursor === null) return;
  }
}
