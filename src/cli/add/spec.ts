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
    "Writes one new file, a few lines into the app's file (the mount stands above the first body parser), a secret into .env, and the names of local files into .gitignore. Only Express apps are changed: for other hosts, and for an unusual file, the command prints the lines to paste, with exit code 1.",
  arguments: { dir: { optional: true, summary: "The app's folder. Default: this one." } },
  options: {
    events: eventsOption,
  },
  examples: [
    ["pigeonhole add", "shows the changes and asks"],
    ["pigeonhole add server --yes", "for the app in the folder server, without being asked"],
  ],
});
