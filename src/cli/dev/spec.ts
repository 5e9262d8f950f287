import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { defineCommand, withValue } from "../frame/spec.js";
import { parseHeader, parsePort, expandTypes } from "../values/parse-option.js";
import { secretOption } from "../values/secret-option.js";
import { timeoutOption } from "../values/options.js";

export const dev = defineCommand({
  name: "dev",
  group: "Develop",
  summary: "Captures deliveries, shows them on a page and forwards them to your app.",
  details:
    "The port for deliveries is the only one that a tunnel should reach; the page is for this machine alone. With --start the app gets WEBHOOK_SECRET (a new random one if none was given), PORT (unless --forward-to names another port), NODE_ENV=development (unless it is set), and with --with-sandbox PIGEONHOLE_BASE_URL and PIGEONHOLE_API_KEY of the emulated service, so that the app's contact events stay on this machine. The commands endpoints, api and doctor in the same folder find the emulated service and the app's database too. Every line then begins with its source, and JSON lines of pino are printed as text. Ctrl-C ends everything, with exit code 0 with --start and 130 without; an app that ends by itself ends dev with the app's exit code.",
  options: {
    forwardTo: withValue("target", "A port, host:port/path or URL; email.*=3000 forwards by type.", {
      short: "f",
      repeat: true,
    }),
    events: withValue("types", "Forwards only these types, such as email.*; all are captured.", {
      short: "e",
      default: "*",
    }),
    start: withValue(
      "command",
      "Starts the app, such as 'npm start', waits until the first --forward-to answers, by default the port PORT of the environment or of .env, else 3000, and ends with the app.",
    ),
    withSandbox: withValue(
      "types",
      "Runs an emulated service that delivers here and takes the app's contact events. It sends these types, such as email.bounced,form.*; the flag alone: all.",
      { parse: expandTypes, whenBare: "all" },
    ),
    sandboxPort: withValue("port", "Where the API of that service is.", {
      parse: parsePort,
      default: "4410",
      variable: "SANDBOX_PORT",
    }),
    port: withValue("port", "Where deliveries are received.", {
      short: "p",
      parse: parsePort,
      default: "4400",
      variable: "DEV_PORT",
    }),
    host: withValue("address", "The address to listen at for deliveries.", { default: "127.0.0.1" }),
    path: withValue("path", "The only path that accepts deliveries.", { default: DEFAULT_ENDPOINT_PATH }),
    pagePort: withValue("port", "Where the page is, on this machine only.", {
      parse: parsePort,
      default: "4401",
      variable: "DEV_PAGE_PORT",
    }),
    page: { negated: true, summary: "Serves no page." },
    secret: secretOption,
    timeout: timeoutOption,
    header: withValue("header", 'Sets a header of what is sent to the app, as "Name: value".', {
      short: "H",
      repeat: true,
      parse: parseHeader,
    }),
    allowRemote: { summary: "Allows targets outside this machine and its private network." },
    tunnel: withValue("program", "Starts cloudflared, ngrok, tailscale, or a command with {port} in it."),
    publicUrl: withValue("url", "The public URL of a tunnel that runs already."),
    register: { summary: "Creates an endpoint at the service that points here, and deletes it at the end." },
    inbox: withValue(
      "database",
      "Shows the inbox of this receiver on the page, and its handlers' failures in lines: its SQLite file, or the postgres:// URL of its database. Default: DATABASE_FILE or DATABASE_URL of the environment or of .env, the SQLite file that the app of --start opens, else pigeonhole.db, if the file exists.",
    ),
  },
  examples: [
    ["pigeonhole dev --forward-to 3000", "captures at port 4400 and forwards to the same path at port 3000"],
    ["pigeonhole dev -f email.*=3000/hooks -f http://localhost:3001", "by type, to two apps"],
    ["pigeonhole dev --start 'npm start' --with-sandbox", "the app on port 3000, and an emulated service beside it"],
    ["pigeonhole dev -f 3000 --tunnel cloudflared --register", "real deliveries, for as long as it runs"],
  ],
});
