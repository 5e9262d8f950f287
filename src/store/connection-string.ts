import { resolve } from "node:path";
import { PigeonholeError } from "../base/error.js";

const PROTOCOLS = ["postgres:", "postgresql:"];

const DEFAULT_SCHEMA = "pigeonhole";

/** Whether the text says where a PostgreSQL is, as opposed to a path. */
export function isConnectionString(text: string): boolean {
  return PROTOCOLS.some((protocol) => text.startsWith(`${protocol}//`));
}

/** Throws `invalid_option`. No message quotes the text, which has a password. */
export function checkConnectionString(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return text;
  if (typeof text !== "string" || !isConnectionString(text) || !URL.canParse(text)) {
    throw new PigeonholeError(
      "invalid_option",
      `${option} must be a URL such as postgres://user:password@db.example.com/app, with other characters in the password as %40 and the like.`,
    );
  }
  if (new URL(text).hash === "") return text;
  throw new PigeonholeError("invalid_option", `${option} has a # and a name at its end; give that as schema.`);
}

/** A place in a PostgreSQL as commands take it: a connection string, with `#` and a schema if it is another one. */
export interface DatabasePlace {
  connectionString: string;
  schema: string;
}

/** Reads a place that {@link isConnectionString} has recognized. Throws `invalid_argument`, without quoting it. */
export function readDatabasePlace(text: string): DatabasePlace {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const schema = url?.hash.slice(1) || DEFAULT_SCHEMA;
  if (url === undefined || !isSchemaName(schema)) {
    throw new PigeonholeError(
      "invalid_argument",
      "The URL of the database cannot be read: it must be as in postgres://user:password@db.example.com/app, with other characters in the password as %40 and the like, and with #schema at its end for another schema than pigeonhole.",
    );
  }
  url.hash = "";
  return { connectionString: url.href, schema };
}

/** The place for people: without the password and the settings. */
export function nameOfDatabase(text: string): string {
  const { username, host, pathname, hash } = new URL(text);
  const user = username === "" ? "" : `${username}@`;
  return `postgres://${user}${host}${pathname}${hash}`;
}

/** A place of an inbox as `openInbox` takes it: a path is relative to the folder. */
export function resolvePlace(folder: string, place: string): string {
  return isConnectionString(place) ? place : resolve(folder, place);
}

/** What {@link isSchemaName} asks for, after "must". */
export const SCHEMA_NAME_RULE = "be at most 63 lower-case letters, digits and underscores, and not begin with a digit";

/** Whether the name needs no quotes in SQL. */
export function isSchemaName(schema: unknown): schema is string {
  return typeof schema === "string" && /^[a-z_][a-z0-9_]{0,62}$/.test(schema);
}
