import { parseEvents } from "../../scaffold/project/event-names.js";
import { defineCommand, withValue } from "../frame/spec.js";

/** `--events` of every command that writes handlers. */
export const eventsOption = withValue("types", "Event types that get a handler: email.received,form.* or all.", {
  short: "e",
  parse: parseEvents,
});

export const add = defineCommand({
  name: "add",
  group: "Set up",
  summary: "Adds a receiver to an existing Express app, after showing the changes.",
  details:
    "Writes one new file, a few lines into the app's file, where the mount stands above the first body parser, a secret into .env, and what git must not have into .gitignore. It changes Express apps only: for the other hosts of docs/mounting.md, and for a file that it does not understand, it prints what to paste (exit code 1).",
  arguments: { dir: { optional: true, summary: "The app's folder. Default: this one." } },
  options: {
    events: eventsOption,
  },
  examples: [
    ["pigeonhole add", "shows the changes and asks"],
    ["pigeonhole add server --yes", "for the app in the folder server, without being asked"],
  ],
});
