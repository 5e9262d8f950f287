import { defineCommand, withValue } from "../frame/spec.js";
import { databaseOption } from "../values/options.js";
import { readPastMoment } from "../../operator/filter-reader.js";
import { parseDuration } from "../values/parse-option.js";

const writeSecret = withValue("file", "Writes the secret to this file, readable by you alone, instead of printing it.");

const id = { summary: "Id of the endpoint, whe_ and 24 hex digits." } as const;
const group = "Operate";

export const endpointsRotateSecret = defineCommand({
  name: "endpoints rotate-secret",
  group,
  summary: "Gives an endpoint a new secret; the old one stops working at once.",
  details:
    "If the receiver's option secrets is a function, nothing is lost: the service sends again what the receiver cannot verify yet.",
  arguments: { id },
  options: { writeSecret },
  examples: [
    ["pigeonhole endpoints rotate-secret <id> --write-secret secret", "into the file that the receiver reads"],
  ],
});

export const endpointsRepair = defineCommand({
  name: "endpoints repair",
  group,
  summary: "Replays events that the service failed to deliver and that the receiver's database lacks.",
  details:
    "Reads the failed attempts of the endpoint's delivery log, has the service replay what is missing, and waits for its arrival. It can be killed at any moment and run again; an event takes effect once. Exits with 1 when events are still missing, with --dry-run too.",
  arguments: { id },
  options: {
    db: databaseOption,
    since: withValue("time", "Begin of the outage, such as 2d or 2026-01-31. Required.", { parse: readPastMoment }),
    source: withValue("name", "Name of the endpoint's secret, where the option secrets has names."),
    enable: { summary: "Switches the endpoint on, if it is off." },
    dryRun: { summary: "Shows what is missing and changes nothing." },
    mayRepeat: {
      summary:
        "Also replays events that may have been handled already and would be handled again: of a time from which the database may lack ids, with only replays in the log, or delivered by another attempt.",
    },
    wait: withValue("duration", "How long to wait for replayed events to arrive.", {
      parse: parseDuration,
      default: "30s",
    }),
  },
  examples: [
    ["pigeonhole endpoints repair <id> --since 2d --dry-run", "what two days of outage have lost"],
    ["pigeonhole endpoints repair <id> --since 2d --enable", "on again, and all that is missing into the inbox"],
  ],
});
