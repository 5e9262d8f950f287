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
    "Each capture is signed again, with a new event id. docs/testing.md says when a case fails, and how the capture's field expect, which --update writes, changes that. With --start the app gets WEBHOOK_SECRET (a new random one if none was given), PORT (unless --to names another port), DATABASE_FILE of a temporary database, DATABASE_URL of an empty one if its own names a PostgreSQL, and PIGEONHOLE_BASE_URL with PIGEONHOLE_API_KEY of an emulated API whose contacts are the addresses that the captures mention: nothing is sent to the workspace. Without --start, name the app's inbox or give --answers-only: otherwise nothing is sent, with exit code 2. Exits with 1 when a case fails, and with 3 when the app cannot be reached.",
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
