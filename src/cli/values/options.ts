import { readPastMoment } from "../../operator/read-past-moment.js";
import type { OptionSpec } from "../frame/spec.js";
import { parseDuration, parseFieldChange, parseWholeNumber } from "./parse-option.js";

/** Where captures are kept, in the working folder. */
export const CAPTURE_STORE = ".pigeonhole";

/** `--timeout` of every command that sends deliveries, and waits as long as the service. */
export const timeoutOption = {
  value: "time",
  parse: parseDuration,
  default: "5s",
  summary: "Longest wait for an answer; one after more than 5 s counts as none, as for the service.",
} as const satisfies OptionSpec;

/** The receiver's database, for every command that reads one. */
export const databaseOption = {
  value: "database",
  short: "d",
  summary:
    "The receiver's SQLite file, the postgres:// URL of its database, or env:NAME of a variable with it; it may be running. Default: DATABASE_FILE or DATABASE_URL of the environment or of .env, else pigeonhole.db.",
} as const satisfies OptionSpec;

/** Where a command that is about deliveries reads what handlers made of them. */
export const inboxOption = {
  value: "database",
  summary:
    "The app's SQLite file or postgres:// URL, where the work of its handlers is read. Default: DATABASE_FILE or DATABASE_URL of the environment or of .env, else pigeonhole.db, if the file exists.",
} as const satisfies OptionSpec;

/** Most rows of a list. */
export const MAX_ROWS = 100_000;

/** How many rows a list shows. */
export const limitOption = {
  value: "rows",
  parse: parseWholeNumber({ min: 1, max: MAX_ROWS }),
  default: "50",
  summary: "Most rows, newest first.",
} as const satisfies OptionSpec;

/** `--since` and `--until` of what is chosen by its time; `what` is such as "events received". */
export const timeOptions = (what: string) =>
  ({
    since: { value: "time", parse: readPastMoment, summary: `Only ${what} since then, such as 1h or 2026-01-31.` },
    until: { value: "time", parse: readPastMoment, summary: `Only ${what} before then.` },
  }) as const satisfies Record<string, OptionSpec>;

/** Changes of an event before it is sent. */
export const changeOptions = {
  set: {
    value: "path=value",
    repeat: true,
    parse: parseFieldChange,
    summary: "Sets a field, such as data.recipient=a@b.c.",
  },
  unset: { value: "path", repeat: true, summary: "Removes a field." },
} as const satisfies Record<string, OptionSpec>;
