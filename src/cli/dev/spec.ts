import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { defineCommand } from "../frame/spec.js";
import { parseHeader, parsePort } from "../values/parse-option.js";
import { secretOption } from "../values/secret-option.js";
import { expandTypes } from "../values/wanted-endpoint.js";
import { timeoutOption } from "../values/options.js";

export const dev = defineCommand({
  name: "dev",
  group: "Develop",
  summary: "Captures deliveries, shows them on a page and forwards them to your app.",
  details:
    "The port for deliveries is the only one that a tunnel should reach; the page is for this machine alone. Keys in a terminal: r replays the last delivery, o shows the page's address, p pauses forwarding, q quits. With --start the app gets WEBHOOK_SECRET, a new random one if none was given, PORT unless --forward-to gives another one, NODE_ENV=development unless it is set, and with --with-sandbox PIGEONHOLE_BASE_URL and PIGEONHOLE_API_KEY of the emulated service, so that its contact events stay on this machine. The commands endpoints, api and doctor in the same folder find that service too, and the database that the app opens; every line then begins with its source, and JSON lines of pino are printed as text. With --start, Ctrl-C ends all with exit code 0, and an app that ends by itself ends all with its exit code; without --start, Ctrl-C ends it with 130. The key q ends it with 0 in both cases.",
  options: {
    forwardTo: {
      value: "target",
      short: "f",
      repeat: true,
      summary: "A port, host:port/path or URL; email.*=3000 forwards by type.",
    },
    events: {
      value: "types",
      short: "e",
      default: "*",
      summary: "Forwards only these types, such as email.*; all are captured.",
    },
    start: {
      value: "command",
      summary:
        "Starts the app, such as 'npm start', waits until the first --forward-to answers, by default the port PORT of the environment or of .env, else 3000, and ends with the app.",
    },
    withSandbox: {
      value: "types",
      parse: expandTypes,
      whenBare: "all",
      summary:
        "Runs an emulated service that delivers here and takes the app's contact events. It sends these types, such as email.bounced,form.*; the flag alone: all.",
    },
    sandboxPort: {
      value: "port",
      parse: parsePort,
      default: "4410",
      variable: "SANDBOX_PORT",
      summary: "Where the API of that service is.",
    },
    port: {
      value: "port",
      short: "p",
      parse: parsePort,
      default: "4400",
      variable: "DEV_PORT",
      summary: "Where deliveries are received.",
    },
    host: { value: "address", default: "127.0.0.1", summary: "The address to listen at for deliveries." },
    path: { value: "path", default: DEFAULT_ENDPOINT_PATH, summary: "The only path that accepts deliveries." },
    pagePort: {
      value: "port",
      parse: parsePort,
      default: "4401",
      variable: "DEV_PAGE_PORT",
      summary: "Where the page is, on this machine only.",
    },
    page: { negated: true, summary: "Serves no page." },
    secret: secretOption,
    whenDown: {
      value: "what",
      choices: ["503", "hold"],
      default: "503",
      summary: "While the app is down: 503, or 202 and delivered in order later.",
    },
    timeout: timeoutOption,
    header: {
      value: "header",
      short: "H",
      repeat: true,
      parse: parseHeader,
      summary: 'Sets a header of what is sent to the app, as "Name: value".',
    },
    allowRemote: { summary: "Allows targets outside this machine and its private network." },
    tunnel: {
      value: "program",
      suggestions: ["cloudflared", "ngrok", "tailscale"],
      summary: "Starts cloudflared, ngrok, tailscale, or a command with {port} in it.",
    },
    publicUrl: { value: "url", summary: "The public URL of a tunnel that runs already." },
    register: { summary: "Creates an endpoint at the service that points here, and deletes it at the end." },
    inbox: {
      value: "database",
      summary:
        "Shows the inbox of this receiver on the page, and its handlers' failures in lines: its SQLite file, or the postgres:// URL of its database. Default: DATABASE_FILE or DATABASE_URL of the environment or of .env, the SQLite file that the app of --start opens, else pigeonhole.db, if the file exists.",
    },
  },
  examples: [
    [
      "pigeonhole dev --forward-to 3000",
      "captures at http://127.0.0.1:4400/webhooks/mail and forwards to the same path at port 3000",
    ],
    [
      "pigeonhole dev -f email.*=3000/hooks/mail -f http://localhost:3001 --when-down hold",
      "by type, and nothing is lost while the app restarts",
    ],
    [
      "pigeonhole dev --start 'npm start' --with-sandbox",
      "the app on port 3000, and an emulated service that sends to it and takes its contact events",
    ],
    [
      "pigeonhole dev -f 3000 --tunnel cloudflared --register",
      "real deliveries of the service, for as long as it runs",
    ],
  ],
});
