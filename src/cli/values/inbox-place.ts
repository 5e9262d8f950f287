import { statSync } from "node:fs";
import { resolve } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import { quoteForShell } from "../../base/text.js";
import { isConnectionString, resolvePlace } from "../../store/connection-string.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { readNamed, readVariable } from "./secret-option.js";

/** The variable for a file in projects made by `pigeonhole init`. */
export const DATABASE_VARIABLE = "DATABASE_FILE";

/** The variable for a PostgreSQL; the app's own tables may be what it is for. */
export const URL_VARIABLE = "DATABASE_URL";

/** The default file of `createReceiver`. */
const DEFAULT_DATABASE = "pigeonhole.db";

/** A variable that a user sets for a command that is printed. */
const OWN_VARIABLE = "INBOX_URL";

/** Where a database is. */
export interface InboxPlace {
  /** Absolute path of a file, or a URL. */
  at: string;
  /** The flag or the variable that named it; undefined for the default file. */
  by: string | undefined;
  /** What a printed command needs to find it, such as ` --db inbox.db`, without a password; empty if nothing. */
  flag: string;
}

/** The database that a flag names, by path, URL, or `env:NAME` of a variable that has one of them. */
export function readPlace(flag: string, text: string, context: CommandContext): InboxPlace {
  const named = text.startsWith("env:") ? readNamed(flag, text, context).value : text;
  return { at: resolvePlace(context.cwd, named), by: flag, flag: ` --db ${nameForShell(text, context)}` };
}

/** A URL with a password is named by the variable that it came from, if it came from one. */
function nameForShell(text: string, { env }: CommandContext): string {
  if (!isConnectionString(text) || !hasPassword(text)) return quoteForShell(text);
  const [variable = OWN_VARIABLE] = Object.entries(env).find(([, value]) => value === text) ?? [];
  return `env:${variable}`;
}

/** True also for a URL that cannot be read. */
function hasPassword(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { password, searchParams } = new URL(text);
  return password !== "" || [...searchParams.keys()].some((name) => /password/i.test(name));
}

/** The databases that the variables name, and then the default file: the first that is an inbox is the receiver's. */
export function usualPlaces(context: CommandContext): [InboxPlace, ...InboxPlace[]] {
  const { cwd, env } = context;
  const file = readVariable(DATABASE_VARIABLE, context);
  if (file !== undefined) {
    // The shell in which a printed command is run may have other variables; .env is the same for it.
    const flag = env[DATABASE_VARIABLE] === file ? ` --db ${quoteForShell(file)}` : "";
    return [{ at: resolvePlace(cwd, file), by: DATABASE_VARIABLE, flag }];
  }
  const byDefault = { at: resolve(cwd, DEFAULT_DATABASE), by: undefined, flag: "" };
  const url = readVariable(URL_VARIABLE, context);
  if (url === undefined || !isConnectionString(url)) return [byDefault];
  return [{ at: url, by: URL_VARIABLE, flag: "" }, ...(isFile(byDefault.at) ? [byDefault] : [])];
}

/** The PostgreSQL that the variable names, if none names a file. */
export function findNamedServer(context: CommandContext): string | undefined {
  return usualPlaces(context).find(({ by }) => by === URL_VARIABLE)?.at;
}

/** Why there can be no database at a place; undefined for a URL, and for a file that is there. */
export function findAbsence({ at, by }: InboxPlace): Error | undefined {
  if (isConnectionString(at)) return undefined;
  const seen = statSync(at, { throwIfNoEntry: false });
  // The error of SQLite would only say that it cannot open the file.
  if (seen?.isDirectory() === true) {
    return usageError(`${by ?? "--db"}: ${at} is a folder; give the path of a receiver's database in it.`);
  }
  if (seen !== undefined) return undefined;
  const which = by === undefined ? "" : `, which ${by} names`;
  return new PigeonholeError(
    "invalid_argument",
    `There is no file ${at}${which}. Give the receiver's database with --db, or set ${DATABASE_VARIABLE} or ${URL_VARIABLE} in the environment or in .env.`,
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
