import { defineCommand } from "../frame/spec.js";
import { parseMoment } from "../values/parse-option.js";
import { secretOption } from "../values/secret-option.js";

/** Ways to write a signature; see `signDelivery`. */
export const SIGNATURE_FORMATS = ["combined", "bare"] as const;
export const SIGNATURE_ENCODINGS = ["hex", "base64", "base64url"] as const;

export const sign = defineCommand({
  name: "sign",
  group: "Signatures",
  summary: "Signs a body as the service does and prints the headers.",
  options: {
    body: { value: "file", short: "b", summary: "The exact bytes, or - for standard input.", default: "-" },
    secret: secretOption,
    at: {
      value: "time",
      parse: parseMoment,
      summary: "Time of signing: ISO 8601, Unix seconds, or such as -10m. Default: now.",
    },
    format: { value: "format", choices: SIGNATURE_FORMATS, summary: "One header, or the time in a separate header." },
    encoding: {
      value: "encoding",
      choices: SIGNATURE_ENCODINGS,
      summary: "How the signature is written.",
      default: "hex",
    },
    curl: { value: "url", summary: "Prints a curl command that posts the body to this URL instead." },
  },
  examples: [
    ["pigeonhole sign --body event.json", "the headers to send with event.json"],
    ["pigeonhole sign --body event.json --at -10m", "a delivery that is ten minutes old"],
    ["pigeonhole sign --body event.json --curl http://127.0.0.1:3000/webhooks/mail", "a line for the shell"],
  ],
});
