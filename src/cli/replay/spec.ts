import { defineCommand, withValue } from "../frame/spec.js";
import { parseWholeNumber } from "../values/parse-option.js";
import { secretOption } from "../values/secret-option.js";
import { changeOptions, inboxOption, timeoutOption, selectionArgument } from "../values/options.js";

export const replay = defineCommand({
  name: "replay",
  group: "Develop",
  summary: "Sends captured deliveries again, signed with the present time.",
  details:
    "The event id stays, so a receiver that has the event answers duplicate and runs nothing. --new-id makes the handlers run again, and is the default for an edited body. Each answer is compared with the one before. Where the app's inbox is known, the command waits up to 2 s in all for the handlers and prints their results. Exits with 3 when there is no answer, and with 1 after a ✗: an answer other than 2xx, or a dead event.",
  arguments: { selection: selectionArgument },
  options: {
    to: withValue(
      "url",
      "A port, host:port/path or URL. Default: where the capture was forwarded, or answered, last.",
      { repeat: true },
    ),
    exact: { summary: "Sends bytes and signature as captured instead of signing again." },
    newId: { summary: "Gives each request a new event id." },
    secret: secretOption,
    ...changeOptions,
    times: withValue("n", "How often each is sent.", { short: "n", parse: parseWholeNumber({ min: 1 }), default: "1" }),
    timeout: timeoutOption,
    inbox: inboxOption,
    allowRemote: { summary: "Allows a target that is neither on this machine nor in a private network." },
  },
  examples: [
    ["pigeonhole replay last", "the newest capture, to where it was sent before"],
    ["pigeonhole replay type:email.* verdict:ok --to 3000", "all genuine email events"],
    ["pigeonhole replay fixtures/webhooks --times 3 --new-id", "a folder three times"],
  ],
});
