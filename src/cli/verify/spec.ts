import { LIMITS } from "../../protocol/limits.js";
import { defineCommand } from "../frame/spec.js";
import { parseMoment, parseHeader, parseWholeNumber } from "../values/parse-option.js";
import { secretOption } from "../values/secret-option.js";
import { storeOption } from "../values/options.js";

export const verify = defineCommand({
  name: "verify",
  group: "Signatures",
  summary: "Checks the signature of a capture or a request, and says what is wrong with it.",
  details:
    "Tries the usual mistakes until the signature matches, and says which one it was. Exits with 1 when the signature is not valid.",
  arguments: {
    capture: { optional: true, summary: "A capture: its file, its id or short name, or last. Omit it with --body." },
  },
  options: {
    body: {
      value: "file",
      short: "b",
      summary: "The exact bytes of a body instead of a capture, or - for standard input.",
    },
    header: {
      value: "header",
      short: "H",
      repeat: true,
      parse: parseHeader,
      summary: 'A header of the request, as "Name: value".',
    },
    secret: secretOption,
    at: {
      value: "time",
      parse: parseMoment,
      summary: "Measures the age against this time. Default: the arrival of a capture, or now.",
    },
    tolerance: {
      value: "seconds",
      parse: parseWholeNumber({ min: 0 }),
      default: String(LIMITS.toleranceSeconds),
      summary: "Accepted age, both ways.",
    },
    store: storeOption,
  },
  examples: [
    ["pigeonhole verify last", "why the last captured delivery was refused"],
    ['pigeonhole verify --body event.json -H "X-Svc-Signature: t=1700000000,v1=…"', "a request given by hand"],
  ],
});
