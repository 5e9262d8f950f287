import { defineCommand } from "../frame/spec.js";
import { duration } from "../values/parsers.js";
import { secretOption } from "../values/secret-option.js";

export const test = defineCommand({
  name: "test",
  group: "Develop",
  summary: "Replays a folder of captures against the app and checks the answers.",
  details:
    "Each capture is signed again, with a new event id. A capture's field expect says what is expected: status, outcome, json with ignore, and handlers; otherwise 2xx. With --start the app gets the secret as WEBHOOK_SECRET, a new random one if none was given. Exits with 1 when a case fails, and with 3 when the app cannot be reached.",
  arguments: {
    folder: { optional: true, summary: "A folder of capture files, or one file. Default: fixtures/webhooks." },
  },
  options: {
    to: {
      value: "url",
      default: "3000",
      summary: "A port, host:port/path or URL; without a path the captured one is used.",
    },
    start: { value: "command", summary: "Starts the app for the time of the run, such as 'npm start'." },
    waitFor: {
      value: "url",
      summary: "Waits until this answers below 500. Default, with --start: until --to answers.",
    },
    patience: { value: "time", parse: duration, default: "60s", summary: "Longest wait for the app to answer." },
    secret: secretOption,
    twice: { summary: "Delivers each a second time, which must have no effect." },
    inbox: { value: "file", summary: "The app's SQLite file: handlers must end in done, or in the expected state." },
    update: { summary: "Writes the answers into the files as their expectations." },
    expect: { value: "status", summary: "Expected status if a file does not say. Default: 2xx." },
    ignore: { value: "path", repeat: true, summary: "A part of JSON answers that may differ, such as $.requestId." },
    reporter: { value: "kind=file", repeat: true, parse: reporter, summary: "junit=<file> writes a JUnit report." },
    timeout: { value: "time", parse: duration, default: "30s", summary: "Longest wait for an answer." },
    allowRemote: { summary: "Allows a target that is neither on this machine nor in a private network." },
  },
  examples: [
    ["pigeonhole test", "fixtures/webhooks against the app on port 3000"],
    [
      "pigeonhole test fixtures/webhooks --start 'npm start' --wait-for http://127.0.0.1:3000/health --twice --reporter junit=report.xml",
      "in CI",
    ],
    ["pigeonhole test --inbox inbox.db --update", "saves the present answers and handlers' states as expectations"],
  ],
});

function reporter(text: string): string {
  const [, file] = /^junit=(.+)$/s.exec(text) ?? [];
  if (file !== undefined) return file;
  throw new Error("It must be junit=<file>.");
}
