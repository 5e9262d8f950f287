import { EXPORT_FORMATS } from "../../capture/export/export-formats.js";
import { REDACTION_HELP, REDACTION_PROFILES } from "../../capture/redact/redaction-profiles.js";
import { searchTerm } from "../values/parse-option.js";
import { defineCommand, withValue } from "../frame/spec.js";
import { inboxOption, limitOption, selectionArgument } from "../values/options.js";
import { secretOption } from "../values/secret-option.js";

const group = "Develop";
export const capturesList = defineCommand({
  name: "captures list",
  group,
  summary: "Lists captured deliveries, newest first, with the state of their work where the app's inbox is known.",
  details:
    "A search is free text and fields: type:email.* status:5xx outcome:parked verdict:bad is:pinned has:error source:sandbox tag:vip after:10m header.x-id:1 data.recipient:a@b.c; a leading dash negates (put -- first if the term has no field: -- -refund).",
  arguments: {
    query: { variadic: true, optional: true, parse: searchTerm, summary: "A search; without one all are listed." },
  },
  options: { inbox: inboxOption, limit: limitOption },
  examples: [["pigeonhole captures list type:email.* -status:2xx", "email events that the app did not accept"]],
});

export const capturesShow = defineCommand({
  name: "captures show",
  group,
  summary:
    "Shows one capture: request, signature and what is wrong with it, attempts, and the work of the app's handlers.",
  details: "Tries the usual mistakes until the signature matches, and says which one it was.",
  arguments: {
    capture: { summary: "last, last:<type>, an id, its beginning or the short name that lists show, or a file." },
  },
  options: {
    inbox: inboxOption,
    secret: secretOption,
    body: { summary: "Prints the exact bytes of the body and nothing else." },
  },
  examples: [
    ["pigeonhole captures show last", "why the last captured delivery was refused"],
    ["pigeonhole captures show last --body > event.json", "the bytes as received"],
  ],
});

export const capturesExport = defineCommand({
  name: "captures export",
  group,
  summary: "Exports captures, for another machine or for cURL.",
  details: `A curl command is signed again if a secret is found, and does not contain the secret. With --from-inbox, personal data is replaced unless --redact none is given; the inbox keeps no signatures, so a replay signs the events again. --redact ${REDACTION_HELP}`,
  arguments: { selection: selectionArgument },
  options: {
    as: withValue("format", "The format that is written.", { choices: EXPORT_FORMATS, default: "ndjson" }),
    redact: withValue("profile", "Replaces personal data. Default: none, with --from-inbox default.", {
      choices: [...REDACTION_PROFILES, "none"],
    }),
    fromInbox: withValue(
      "database",
      "Chooses among the newest 10,000 events of a receiver instead of captures: in its SQLite file or the postgres:// URL of its database. Without a value, where DATABASE_FILE or DATABASE_URL of the environment or of .env says, else pigeonhole.db.",
      { whenBare: "" },
    ),
    to: withValue("url", "Where curl posts to.", { default: "3000" }),
    secret: secretOption,
    out: withValue("file", "Writes to this file, readable by you alone, instead of printing.", { short: "o" }),
  },
  examples: [
    [
      "pigeonhole captures export tag:vip --redact strict --out vip.ndjson",
      "elsewhere: pigeonhole replay ./vip.ndjson --to 3000",
    ],
    ["pigeonhole captures export after:1h --from-inbox --out events.ndjson", "what a receiver had in the last hour"],
    ["pigeonhole captures export last --as curl --to 3000", "a command that is valid for five minutes"],
  ],
});

export const capturesTypes = defineCommand({
  name: "captures types",
  isRare: true,
  group,
  summary: "Writes zod schemas of data, merged over all captures of each type, for createReceiver({ schemas }).",
  details:
    "The service does not document the shapes of data; the schemas describe the captures. Samples of this package, from trigger, init and the sandbox, are left out unless --samples is given. A field is optional until 10 captures of its type have had it. In CI, write the module again and let git diff --exit-code show the changes.",
  arguments: {
    selection: { ...selectionArgument, optional: true, summary: `${selectionArgument.summary}. Default: all.` },
  },
  options: {
    out: withValue("file", "Writes the module to this file instead of printing it.", { short: "o" }),
    samples: { summary: "Learns from the samples of trigger, init and the sandbox, too; their data is made up." },
  },
  examples: [["pigeonhole captures types --out src/webhook-schemas.ts", "all types that were captured"]],
});
