import { type PigeonholeError, isPigeonholeError } from "../../base/error.js";
import { isConnectionString, readDatabasePlace } from "../../store/connection-string.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { openInbox } from "../../store/open-inbox.js";
import type { CommandContext } from "../frame/context.js";
import { type InboxPlace, findAbsence, readPlace, usualPlaces } from "./inbox-place.js";

type Opening =
  | { kind: "open"; inbox: InboxOperator }
  /** There is no such file; or the database of a URL has no inbox: it may be for the app's own tables alone. */
  | { kind: "absent" | "without_inbox"; error: Error }
  /** It cannot be opened, or is not a receiver's. */
  | { kind: "unusable"; error: Error };

/** The receiver's database, or why it is not open; close what is open. */
export type InboxSearch = Opening & { place: InboxPlace };

/**
 * The one rule of which database is the receiver's: the given one, or else the first of the usual ones that is no URL
 * of a database without an inbox.
 */
export async function findInbox(context: CommandContext, given?: InboxPlace): Promise<InboxSearch> {
  const [first, ...others] = given === undefined ? usualPlaces(context) : [given];
  let found = { ...(await open(first)), place: first };
  for (const place of others) if (found.kind === "without_inbox") found = { ...(await open(place)), place };
  return found;
}

async function open(place: InboxPlace): Promise<Opening> {
  const { at } = place;
  const absence = findAbsence(place);
  if (absence !== undefined) return { kind: "absent", error: absence };
  try {
    return { kind: "open", inbox: await openInbox(at) };
  } catch (error) {
    if (!isPigeonholeError(error)) throw error;
    return { kind: isWithoutInbox(at, error) ? "without_inbox" : "unusable", error };
  }
}

function isWithoutInbox(at: string, error: PigeonholeError<string>): boolean {
  if (!isConnectionString(at) || error.code !== "invalid_argument") return false;
  try {
    readDatabasePlace(at);
    return true;
  } catch {
    return false;
  }
}

/** Whether a database has an inbox. Rejects if it cannot be opened. */
export async function hasInbox(at: string): Promise<boolean> {
  const opening = await open({ at, by: undefined, flag: "" });
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
  const found = await findInbox(context, given === undefined ? undefined : readPlace("--db", given, context));
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
