import { SIGNATURE_VARIANTS } from "../../dev/api/page-api.js";
import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { defineCommand, withValue } from "../frame/spec.js";
import { changeOptions, inboxOption } from "../values/options.js";
import { secretOption } from "../values/secret-option.js";

export const trigger = defineCommand({
  name: "trigger",
  group: "Develop",
  summary: "Builds a sample event, signs it and posts it; needs no account and no network.",
  details:
    "The fields of data are assumed, since the service does not document them. Every run makes new ids unless --id or --seed is given. Where the app's inbox is known, the command waits up to 2 s in all for the handlers and prints their results. Exits with 3 when there is no answer, and with 1 after a ✗: an answer other than 2xx or --expect, or a dead event.",
  arguments: { type: { optional: true, summary: "An event type, such as email.received." } },
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
    expect: withValue("status", "The status that the answer must have, such as 2xx or 503."),
    inbox: inboxOption,
    print: { summary: "Prints the request instead of sending it." },
    allowRemote: { summary: "Allows a target that is neither on this machine nor in a private network." },
  },
  examples: [
    ["pigeonhole trigger email.received --to 3000", "to the app on port 3000, at /webhooks/mail"],
    ["pigeonhole trigger email.bounced --set data.recipient=a@b.c --seed 7", "the same event whenever it is run"],
    ["pigeonhole trigger email.sent --sign stale --expect 503", "what the app does with an old signature"],
  ],
});
