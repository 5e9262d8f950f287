import { defineCommand, withValue } from "../frame/spec.js";
import { parseWholeNumber } from "../values/parse-option.js";
import { secretOption } from "../values/secret-option.js";
import { changeOptions, inboxOption, timeoutOption, selectionArgument } from "../values/options.js";

export const replay = defineCommand({
  name: "replay",
  group: "Develop",
  summary: "Sends captured deliveries again, signed with the present time.",
  details:
    "Keeps the event id, so a receiver that has the event answers duplicate and runs nothing; --new-id makes it run again, and is the default for an edited body. Compares each answer with the one before. Waits up to 2 s in all for the handlers, and says what they made of it, if the app's inbox is known. Exits with 1 when --expect is not met, and with 3 when there is no answer.",
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
    expect: withValue("status", "What each answer must be, such as 2xx."),
    timeout: timeoutOption,
    inbox: inboxOption,
    allowRemote: { summary: "Allows a target that is neither on this machine nor in a private network." },
    dryRun: { summary: "Lists what would be sent." },
  },
  examples: [
    ["pigeonhole replay last", "the newest capture, to where it was sent before"],
    ["pigeonhole replay type:email.* verdict:ok --to 3000 --expect 2xx", "all genuine email events"],
    ["pigeonhole replay fixtures/webhooks --times 3 --new-id", "a folder three times"],
  ],
});
