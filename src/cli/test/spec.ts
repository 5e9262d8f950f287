import { defineCommand, withValue } from "../frame/spec.js";
import { parseDuration } from "../values/parse-option.js";
import { inboxOption } from "../values/options.js";
import { secretOption } from "../values/secret-option.js";

export const test = defineCommand({
  name: "test",
  group: "Develop",
  summary:
    "Replays a folder of captures against the app, with --start on a temporary database, and checks answers and handlers.",
  details:
    "Each capture is signed again, with a new event id. A case fails when the answer is not 2xx, the event is parked, no handler gets it, a handler has not ended in done, or, with --start, a contact event is refused, unless the capture's field expect says otherwise: status, outcome, json with ignore, handlers, {} for an event that no handler gets, and contactEvents, the state of each by its name; --update writes them. With --start the app gets WEBHOOK_SECRET, a new random one if none was given, PORT unless --to gives another one, in place of --inbox DATABASE_FILE of a temporary database, DATABASE_URL of an empty one if its own names a PostgreSQL, and PIGEONHOLE_BASE_URL with PIGEONHOLE_API_KEY of an emulated API whose contacts are the addresses that the captures mention: nothing is sent to the workspace. Without --start the app's inbox must be known, or --answers-only given: otherwise nothing is sent, and it exits with 2. Exits with 1 when a case fails, and with 3 when the app cannot be reached.",
  arguments: {
    folder: { optional: true, summary: "A folder of capture files, or one file. Default: fixtures/webhooks." },
  },
  options: {
    to: withValue("url", "A port, host:port/path or URL; without a path the captured one is used.", {
      default: "3000",
      variable: "PORT",
    }),
    start: withValue(
      "command",
      "Starts the app, such as 'npm start', waits until --to answers, and ends the app after the run.",
    ),
    secret: secretOption,
    twice: { summary: "Delivers each a second time, which must have no effect." },
    inbox: inboxOption,
    answersOnly: { summary: "Checks the answers alone, for an app without a receiver's database." },
    settle: withValue("time", "Longest wait for the handlers of an event.", { parse: parseDuration, default: "5s" }),
    update: { summary: "Writes the answers into the files as their expectations." },
    allowRemote: { summary: "Allows a target that is neither on this machine nor in a private network." },
  },
  examples: [
    ["pigeonhole test", "fixtures/webhooks against the app on port 3000, whose database .env names"],
    ["pigeonhole test fixtures/webhooks --start 'npm start' --twice", "in CI"],
    ["pigeonhole test --update", "saves the present answers and handlers' states as expectations"],
    ["pigeonhole test --start 'INBOX_FILE=\"$DATABASE_FILE\" npm start'", "for an app whose variable has another name"],
  ],
});
