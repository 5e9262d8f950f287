import { defineCommand, withValue } from "../frame/spec.js";
import { parseClock, parsePort, wantedEndpoint } from "../values/parse-option.js";
import { secretOption } from "../values/secret-option.js";

export const sandbox = defineCommand({
  name: "sandbox",
  group: "Develop",
  summary: "Runs an emulated service: the API, signed deliveries and the real retry schedule.",
  details:
    "Everything is in memory and for this machine only. The control API is under /sandbox/ on the same port: POST /sandbox/emit, /sandbox/callers, /sandbox/confirm-sign-up, /sandbox/advance, /sandbox/advance-to-next, /sandbox/faults and /sandbox/reset; GET /sandbox/deliveries, /sandbox/contact-events and /sandbox/state.",
  options: {
    port: withValue("port", "Where API and control API listen.", { short: "p", parse: parsePort, default: "4410" }),
    endpoint: withValue(
      "url=types",
      "Creates an endpoint; types such as email.bounced,form.* or all. Default: the service's default set.",
      { repeat: true, parse: wantedEndpoint },
    ),
    secret: {
      ...secretOption,
      summary:
        "Secret of those endpoints, as env:NAME, file:path or its value. Default: WEBHOOK_SECRET, else new ones.",
    },
    options: withValue(
      "file",
      "A JSON file, or - for standard input, with what createSandbox takes, such as apiKeys, contacts and strictUrls. Another option beside it replaces its value.",
    ),
    seed: withValue("text", "Makes the same API key, ids, samples and jitter in every run."),
    clock: withValue(
      "clock",
      "A speed such as 60x, for retries that come faster; advanceable: the control API can move it ahead; manual: time passes only through the control API. Default: real.",
      { parse: parseClock },
    ),
    allowRemote: { summary: "Allows endpoints outside this machine and its private network, as strictUrls needs." },
  },
  examples: [
    ["pigeonhole sandbox --endpoint http://127.0.0.1:3000/webhooks/mail", "an endpoint for the app on port 3000"],
    ["pigeonhole sandbox --endpoint http://localhost:3000/hooks=all --clock 60x", "an hour of retries in a minute"],
    ['curl -X POST http://127.0.0.1:4410/sandbox/emit -d \'{"type":"email.bounced"}\'', "fires an event"],
  ],
});
