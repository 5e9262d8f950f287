import { readPastMoment } from "../../operator/filter-reader.js";
import { searchTerm, parseDuration, parseFieldChange, parseWholeNumber } from "./parse-option.js";
import { type OptionSpec, withValue } from "../frame/spec.js";

/** Where captures are kept, in the working folder. */
export const CAPTURE_STORE = ".pigeonhole";

/** `--timeout` of every command that sends deliveries, and waits as long as the service. */
export const timeoutOption = withValue(
  "time",
  "Longest wait for an answer; one after more than 5 s counts as none, as for the service.",
  { parse: parseDuration, default: "5s" },
);

/** The receiver's database, for every command that reads one. */
export const databaseOption = withValue(
  "database",
  "The receiver's SQLite file, the postgres:// URL of its database, or env:NAME of a variable with it; it may be running. Default: DATABASE_FILE or DATABASE_URL of the environment or of .env, else pigeonhole.db.",
  { short: "d" },
);

/** Where a command that is about deliveries reads what handlers made of them. */
export const inboxOption = withValue(
  "database",
  "The app's SQLite file or postgres:// URL, where the work of its handlers is read. Default: DATABASE_FILE or DATABASE_URL of the environment or of .env, else pigeonhole.db, if the file exists.",
);

/** Most rows of a list. */
export const MAX_ROWS = 100_000;

/** How many rows a list shows. */
export const limitOption = withValue("rows", "Most rows, newest first.", {
  parse: parseWholeNumber({ min: 1, max: MAX_ROWS }),
  default: "50",
});

/** `--since` and `--until` of what is chosen by its time; `what` is such as "events received". */
export const timeOptions = (what: string) =>
  ({
    since: withValue("time", `Only ${what} since then, such as 1h or 2026-01-31.`, { parse: readPastMoment }),
    until: withValue("time", `Only ${what} before then.`, { parse: readPastMoment }),
  }) as const satisfies Record<string, OptionSpec>;

/** Changes of an event before it is sent. */
export const changeOptions = {
  set: withValue("path=value", "Sets a field, such as data.recipient=a@b.c.", {
    repeat: true,
    parse: parseFieldChange,
  }),
  unset: withValue("path", "Removes a field.", { repeat: true }),
} as const satisfies Record<string, OptionSpec>;

/** Which captures, for every command that takes some. */
export const selectionArgument = {
  variadic: true,
  parse: searchTerm,
  summary:
    "last, last:<type>, all, an id, its beginning or short name, a file or folder, or a search such as type:email.*",
} as const;
