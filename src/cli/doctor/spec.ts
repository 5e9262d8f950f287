import { defineCommand, withValue } from "../frame/spec.js";
import { databaseOption } from "../values/options.js";
import { secretOption } from "../values/secret-option.js";

export const doctor = defineCommand({
  name: "doctor",
  group: "Set up",
  summary: "Finds what would prevent deliveries from arriving, and says how to fix it.",
  details:
    "With --app it posts one signed test delivery, as the service's own test does: the receiver stores it and runs only handlers that ask for test events. Two more posts with an invalid signature, of 150 kB and of text that is not JSON, show whether a body parser refuses deliveries first; nothing of them is stored. With PIGEONHOLE_BASE_URL it compares the clocks, and with PIGEONHOLE_API_KEY too it looks at the workspace: a key that expires soon or has too narrow scopes, endpoints that are off, and failed deliveries of the last day. Exits with 1 when a check fails.",
  options: {
    app: withValue("url", "The webhook URL of your running app; a port such as 3000 means its path /webhooks/mail.", {
      short: "a",
    }),
    secret: secretOption,
    db: databaseOption,
    allowRemote: { summary: "Allows an app that is neither on this machine nor in a private network." },
  },
  examples: [
    ["pigeonhole doctor", "Node, SQLite, secret, clock, database"],
    ["pigeonhole doctor --app http://127.0.0.1:3000/webhooks/mail", "also whether the running app accepts a delivery"],
  ],
});
