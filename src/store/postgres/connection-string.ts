import { PigeonholeError } from "../../base/error.js";

const PROTOCOLS = ["postgres:", "postgresql:"];

/** Whether the text says where a PostgreSQL is, as opposed to a path. */
export function isConnectionString(text: string): boolean {
  return PROTOCOLS.some((protocol) => text.startsWith(`${protocol}//`));
}

/** Throws `invalid_option`. No message quotes the text, which has a password. */
export function checkConnectionString(option: string, text: string | undefined): string | undefined {
  if (text === undefined || (typeof text === "string" && isConnectionString(text) && URL.canParse(text))) return text;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be a URL such as postgres://user:password@db.example.com/app, with other characters in the password as %40 and the like.`,
  );
}

/** The database that a connection string names, for people: without the password and the settings. */
export function nameOfDatabase(connectionString: string): string {
  const { username, host, pathname } = new URL(connectionString);
  const user = username === "" ? "" : `${username}@`;
  return `postgres://${user}${host}${pathname}`;
}
