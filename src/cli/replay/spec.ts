import { REPLAY_ORDERS } from "../../capture/replay/order-captures.js";
import { searchTerm } from "../frame/search-terms.js";
import { defineCommand } from "../frame/spec.js";
import { parseDuration, parseHeader, parseSpeed, parseWholeNumber } from "../values/parse-option.js";
import { secretOption } from "../values/secret-option.js";
import { certificateOptions, changeOptions, inboxOption, storeOption, timeoutOption } from "../values/options.js";

export const replay = defineCommand({
  name: "replay",
  group: "Develop",
  summary: "Sends captured deliveries again, signed with the present time.",
  details:
    "Keeps the event id, so a receiver that has the event answers duplicate and runs nothing; --new-id makes it run again, and is the default for an edited body. Compares each answer with the one before. Waits up to 2 s in all for the handlers, and says what they made of it, if the app's inbox is known. Exits with 1 when --expect is not met, and with 3 when there is no answer.",
  arguments: {
    selection: {
      parse: searchTerm,
      variadic: true,
      optional: true,
      summary:
        "last, last:<type>, all, an id, its beginning or short name, a file or folder, or a search such as type:email.*",
    },
  },
  options: {
    to: {
      value: "url",
      repeat: true,
      summary: "A port, host:port/path or URL. Default: where the capture was forwarded, or answered, last.",
    },
    query: { value: "search", summary: "A search, also one that could be an id." },
    exact: { summary: "Sends bytes and signature as captured instead of signing again." },
    sameId: { summary: "Keeps the event id, which is the default unless the body is edited." },
    newId: { summary: "Gives each request a new event id." },
    secret: secretOption,
    ...changeOptions,
    body: { value: "file", short: "b", summary: "Sends this body instead of the captured one; - for standard input." },
    order: { value: "order", choices: REPLAY_ORDERS, default: "original", summary: "The order of sending." },
    seed: {
      value: "n",
      parse: parseWholeNumber({ min: 0, max: 2 ** 32 - 1 }),
      summary: "Repeats a shuffle; each run prints its seed.",
    },
    times: {
      value: "n",
      short: "n",
      parse: parseWholeNumber({ min: 1 }),
      default: "1",
      summary: "How often each is sent.",
    },
    keepTiming: {
      value: "speed",
      parse: parseSpeed,
      whenBare: "1x",
      summary: "Keeps the gaps between arrivals, or makes them shorter, such as 10x faster.",
    },
    delay: { value: "time", parse: parseDuration, default: "0s", summary: "Minimum time between two requests." },
    concurrency: {
      value: "n",
      parse: parseWholeNumber({ min: 1, max: 1000 }),
      summary: "Requests at the same time. Default: 1, with --keep-timing 50.",
    },
    expect: { value: "status", summary: "What each answer must be, such as 2xx." },
    ignore: { value: "path", repeat: true, summary: "A part of JSON answers that may differ, such as $.requestId." },
    timeout: timeoutOption,
    header: {
      value: "header",
      short: "H",
      repeat: true,
      parse: parseHeader,
      summary: 'Sets a header of each request, as "Name: value".',
    },
    inbox: inboxOption,
    ...certificateOptions,
    allowRemote: { summary: "Allows a target that is neither on this machine nor in a private network." },
    dryRun: { summary: "Lists what would be sent." },
    store: storeOption,
  },
  examples: [
    ["pigeonhole replay last", "the newest capture, to where it was sent before"],
    ["pigeonhole replay type:email.* verdict:ok --to 3000 --expect 2xx", "all genuine email events"],
    [
      "pigeonhole replay fixtures/webhooks --order shuffle --times 3 --seed 7",
      "a folder three times, shuffled the same way in every run",
    ],
  ],
});
