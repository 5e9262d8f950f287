import { statSync } from "node:fs";
import { resolve } from "node:path";
import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import { quoteForShell } from "../../base/text.js";
import { isConnectionString, nameOfDatabase } from "../../store/connection-string.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { openInbox } from "../../store/open-inbox.js";
import { resolvePlace } from "../../store/resolve-place.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { readNamed, readVariable } from "./secret-option.js";

/** The variable for a file in projects made by `pigeonhole init`. */
export const DATABASE_VARIABLE = "DATABASE_FILE";

/** The variable for a PostgreSQL; the app's own tables may be what it is for. */
export const URL_VARIABLE = "DATABASE_URL";

/** The default file of `createReceiver`. */
const DEFAULT_DATABASE = "pigeonhole.db";

/** Where a database is, and what named it; undefined for the default file. */
interface NamedPlace {
  place: string;
  by: string | undefined;
}

/** The database that a flag names, by path, URL, or `env:NAME` of a variable that has one of them. */
export function readPlace(flag: string, text: string, context: CommandContext): string {
  return resolvePlace(context.cwd, text.startsWith("env:") ? readNamed(flag, text, context).value : text);
}

/** The databases that the variables name, and then the default file: the first that is an inbox is the receiver's. */
function usualPlaces(context: CommandContext): NamedPlace[] {
  const { cwd } = context;
  const file = readVariable(DATABASE_VARIABLE, context);
  if (file !== undefined) return [{ place: resolvePlace(cwd, file), by: DATABASE_VARIABLE }];
  const byDefault = { place: resolve(cwd, DEFAULT_DATABASE), by: undefined };
  const url = readVariable(URL_VARIABLE, context);
  if (url === undefined || !isConnectionString(url)) return [byDefault];
  return [{ place: url, by: URL_VARIABLE }, ...(isFile(byDefault.place) ? [byDefault] : [])];
}

/** The databases that the variables name, or the default one, as far as they may be there. */
export function presentPlaces(context: CommandContext): string[] {
  return usualPlaces(context)
    .map(({ place }) => place)
    .filter((place) => isConnectionString(place) || isFile(place));
}

/** The database that a flag names, which must be there, or else {@link presentPlaces}. */
export function readablePlaces(flag: string, given: string | undefined, context: CommandContext): string[] {
  if (given === undefined) return presentPlaces(context);
  const place = readPlace(flag, given, context);
  checkThere({ place, by: flag });
  return [place];
}

/** The PostgreSQL that the variable names, if none names a file. */
export function findNamedServer(context: CommandContext): string | undefined {
  return usualPlaces(context).find(({ by }) => by === URL_VARIABLE)?.place;
}

/** Opens the first of the places that has an inbox. Rejects as the first of them does. */
export async function openFirst([place = "", ...others]: readonly string[]): Promise<InboxOperator> {
  try {
    return await openInbox(place);
  } catch (error) {
    const isOfApp = isConnectionString(place) && isPigeonholeError(error, "invalid_argument");
    if (!isOfApp || others.length === 0) throw error;
    return openFirst(others);
  }
}

/** Opens the database of `--db`, or that of the variables or the default one, does the work and closes it again. */
export async function withInbox<Result>(
  given: string | undefined,
  context: CommandContext,
  work: (inbox: InboxOperator) => Promise<Result>,
): Promise<Result> {
  const named = given === undefined ? usualPlaces(context) : [{ place: readPlace("--db", given, context), by: "--db" }];
  for (const place of named) checkThere(place);
  const inbox = await openFirst(named.map(({ place }) => place));
  try {
    return await work(inbox);
  } finally {
    await inbox.close();
  }
}

/** Throws if there is no such file. */
function checkThere({ place, by }: NamedPlace): void {
  if (isConnectionString(place)) return;
  const seen = statSync(place, { throwIfNoEntry: false });
  // The error of SQLite would only say that it cannot open the file.
  if (seen?.isDirectory() === true) {
    throw usageError(`${by ?? "--db"}: ${place} is a folder; give the path of a receiver's database in it.`);
  }
  if (seen !== undefined) return;
  const which = by === undefined ? "" : `, which ${by} names`;
  throw new PigeonholeError(
    "invalid_argument",
    `There is no file ${place}${which}. Give the receiver's database with --db, or set ${DATABASE_VARIABLE} or ${URL_VARIABLE} in the environment or in .env.`,
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** What another command needs to find the same database; a URL is without its password. */
export function databaseFlag(given: string | undefined): string {
  if (given === undefined) return "";
  return ` --db ${quoteForShell(isConnectionString(given) ? nameOfDatabase(given) : given)}`;
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
