import { SIGNATURE_VARIANTS } from "../../dev/api/page-api.js";
import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { EVENT_TYPES } from "../../protocol/event-types.js";
import { defineCommand, withValue } from "../frame/spec.js";
import { parseDuration, parseMoment, parseWholeNumber } from "../values/parse-option.js";
import { changeOptions, inboxOption } from "../values/options.js";
import { secretOption } from "../values/secret-option.js";

const count = parseWholeNumber({ min: 1, max: 1_000_000 });

export const trigger = defineCommand({
  name: "trigger",
  group: "Develop",
  summary: "Builds a sample event, signs it and posts it; needs no account and no network.",
  details:
    "The fields of data are assumed, since the service does not document them. Every run makes new ids unless --id or --seed is given. Waits up to 2 s in all for the handlers, and says what they made of it, if the app's inbox is known. Exits with 3 when there is no answer, and with 1 after a ✗: another answer than 2xx, or than that of --expect, or an event that is dead.",
  arguments: { type: { optional: true, suggestions: EVENT_TYPES, summary: "An event type, such as email.received." } },
  options: {
    to: withValue("url", "A port, host:port/path or URL: your app, or pigeonhole dev.", {
      default: `http://127.0.0.1:4400${DEFAULT_ENDPOINT_PATH}`,
      variable: "DEV_PORT",
    }),
    secret: secretOption,
    sign: withValue("how", "Signs correctly, or wrongly in one way.", {
      choices: SIGNATURE_VARIANTS,
      default: "valid",
    }),
    ...changeOptions,
    body: withValue("file", "Posts these exact bytes instead of a sample; - for standard input.", { short: "b" }),
    id: withValue("id", "The event id."),
    seed: withValue("text", "Makes the same event in every run."),
    at: withValue("time", "createdAt of the event: ISO 8601, Unix seconds, or such as -10m.", { parse: parseMoment }),
    count: withValue("n", "How many different events.", { short: "n", parse: count, default: "1" }),
    duplicate: withValue("n", "How often each is delivered, with the same id.", { parse: count, default: "1" }),
    every: withValue("time", "Waits this long between deliveries.", { parse: parseDuration, default: "0s" }),
    expect: withValue("status", "What each answer must be, such as 2xx or 503."),
    inbox: inboxOption,
    print: { summary: "Prints the request instead of sending it." },
    list: { summary: "Lists the event types." },
    allowRemote: { summary: "Allows a target that is neither on this machine nor in a private network." },
  },
  examples: [
    ["pigeonhole trigger email.received --to 3000", "to the app on port 3000, at /webhooks/mail"],
    [
      "pigeonhole trigger email.bounced --set data.recipient=a@b.c --duplicate 2 --expect 2xx",
      "twice, to see that it counts once",
    ],
    ["pigeonhole trigger email.sent --sign stale --expect 503", "what the app does with an old signature"],
  ],
});
