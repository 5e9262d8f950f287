import { EVENT_TYPES } from "../../protocol/event-types.js";
import { defineCommand, type OptionSpec } from "../frame/spec.js";
import { apiOptions, databaseOption } from "../values/options.js";
import { parseDuration, parsePastMoment, parseWholeNumber } from "../values/parse-option.js";

const event = { value: "type", short: "e", repeat: true, suggestions: EVENT_TYPES } as const;

const writable = {
  event: { ...event, summary: "An event type to receive. Default: the service's default set." },
  description: { value: "text", summary: "At most 200 characters." },
  address: { value: "address", repeat: true, summary: "Receives events of this address of the workspace only." },
  domain: { value: "domain", repeat: true, summary: "Receives events of this domain of the workspace only." },
} as const satisfies Record<string, OptionSpec>;

const writeSecret = {
  value: "file",
  summary: "Writes the secret to this file, readable by you alone, instead of printing it.",
} as const satisfies OptionSpec;

const id = { summary: "Id of the endpoint, whe_ and 24 hex digits." } as const;
const group = "Operate";

export const endpointsList = defineCommand({
  name: "endpoints list",
  group,
  summary: "Lists the webhook endpoints of the workspace.",
  options: apiOptions,
  examples: [["pigeonhole endpoints list", "newest first, without secrets"]],
});

export const endpointsCreate = defineCommand({
  name: "endpoints create",
  group,
  summary: "Creates an endpoint and shows its secret, the only time it appears.",
  arguments: { url: { summary: "An https URL of a public host." } },
  options: { ...apiOptions, ...writable, writeSecret },
  examples: [
    [
      "pigeonhole endpoints create https://app.example.com/webhooks/mail -e email.received -e email.bounced --write-secret secret",
      "two event types, the secret into a file",
    ],
  ],
});

export const endpointsUpdate = defineCommand({
  name: "endpoints update",
  group,
  summary: "Changes an endpoint, or switches it on or off.",
  details: "Omitted options stay unchanged. --event, --address and --domain replace the whole list.",
  arguments: { id },
  options: {
    ...apiOptions,
    ...writable,
    event: { ...event, summary: "An event type to receive." },
    url: { value: "url", summary: "A new URL." },
    enable: { summary: "Switches it on and resets its count of failures." },
    disable: { summary: "Switches it off; events that happen meanwhile are not delivered later." },
  },
  examples: [
    ["pigeonhole endpoints update whe_65b8f0a2c4d6e8f001234567 --enable", "on again after the service disabled it"],
  ],
});

export const endpointsRotateSecret = defineCommand({
  name: "endpoints rotate-secret",
  group,
  summary: "Gives an endpoint a new secret; the old one stops working at once.",
  details:
    "If the receiver's option secrets is a function, nothing is lost: the service sends again what the receiver cannot verify yet.",
  arguments: { id },
  options: { ...apiOptions, writeSecret },
  examples: [
    [
      "pigeonhole endpoints rotate-secret whe_65b8f0a2c4d6e8f001234567 --write-secret secret",
      "into the file that the receiver reads",
    ],
  ],
});

export const endpointsDelete = defineCommand({
  name: "endpoints delete",
  group,
  summary: "Deletes an endpoint with its secret and its delivery log.",
  arguments: { id },
  options: apiOptions,
  examples: [["pigeonhole endpoints delete whe_65b8f0a2c4d6e8f001234567 --yes", "without being asked"]],
});

export const endpointsTest = defineCommand({
  name: "endpoints test",
  group,
  summary: "Makes the service send one signed test event and shows the result.",
  details: "Exits with 1 when the receiver did not answer 2xx.",
  arguments: { id },
  options: apiOptions,
  examples: [["pigeonhole endpoints test whe_65b8f0a2c4d6e8f001234567", "a synthetic email.sent"]],
});

export const endpointsDeliveries = defineCommand({
  name: "endpoints deliveries",
  group,
  summary: "Lists the service's attempts to deliver to an endpoint.",
  arguments: { id },
  options: {
    ...apiOptions,
    status: { value: "status", choices: ["delivered", "failed"], summary: "Only attempts of this status." },
    limit: {
      value: "rows",
      parse: parseWholeNumber({ min: 1, max: 10_000 }),
      default: "25",
      summary: "Most rows, newest first.",
    },
  },
  examples: [["pigeonhole endpoints deliveries whe_65b8f0a2c4d6e8f001234567 --status failed", "recent failures"]],
});

export const endpointsRepair = defineCommand({
  name: "endpoints repair",
  group,
  summary: "Replays events that the service failed to deliver and that the receiver's database lacks.",
  details:
    "Reads the failed attempts of the endpoint's delivery log, has the service replay what is missing, and waits for its arrival. It can be killed at any moment and run again; an event takes effect once. Exits with 1 when events are still missing, with --dry-run too.",
  arguments: { id },
  options: {
    ...apiOptions,
    db: databaseOption,
    since: {
      value: "time",
      parse: parsePastMoment,
      summary: "Begin of the outage, such as 2d or 2026-01-31. Required.",
    },
    enable: { summary: "Switches the endpoint on, if it is off." },
    dryRun: { summary: "Shows what is missing and changes nothing." },
    mayRepeat: {
      summary:
        "Allows a begin before the database has all ids, and events that may be from before, have only replays in the log, or were delivered by another attempt: they may have been handled, and would be handled again.",
    },
    wait: {
      value: "duration",
      parse: parseDuration,
      default: "30s",
      summary: "How long to wait for replayed events to arrive.",
    },
  },
  examples: [
    [
      "pigeonhole endpoints repair whe_65b8f0a2c4d6e8f001234567 --since 2d --dry-run",
      "what two days of outage have lost",
    ],
    [
      "pigeonhole endpoints repair whe_65b8f0a2c4d6e8f001234567 --since 2d --enable",
      "on again, and all that is missing into the inbox",
    ],
  ],
});
