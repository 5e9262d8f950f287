import { type Clock, MAX_NODE_TIMER, systemClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { checkWholeNumber } from "../base/option-check.js";
import {
  callable,
  type Changes,
  type OptionsOf,
  type Resolved,
  defineOptions,
  flag,
  given,
  list,
  readBy,
  wholeNumber,
} from "../base/options.js";
import { CAPTURE_FOLDER_OPTIONS } from "../capture/folder/capture-folder.js";
import type { HeaderList } from "../capture/model/capture.js";
import type { NamedSecret } from "../capture/model/judge-signature.js";
import { ANSWER_TIMEOUT_MS } from "../capture/send/send-request.js";
import type { SignatureAssumptions } from "../protocol/signature-assumptions.js";
import { DEFAULT_ENDPOINT_PATH } from "../protocol/endpoint-path.js";
import { type TypeMatcher, parsePatterns } from "../protocol/event-pattern.js";
import { type Forward, type ForwardRule, createForwardRules } from "./forward/forward-rules.js";
import type { Report } from "./lines/dev-event.js";
import type { DevSandbox } from "./sandbox/dev-sandbox.js";
import type { EndpointApi } from "./register/registration.js";

/** An endpoint to create at the service for this run. */
export interface RegisterOptions {
  /** A client of the API (`createClient`); only its `webhooks` are used. */
  client: EndpointApi;
  /** Event types that are wanted. @default the service's default set */
  eventTypes?: readonly string[];
}

export interface DevServerOptions {
  /**
   * Whole secrets with the names that may be shown for them, newest first. @default none: only the form of signatures
   * is checked
   */
  secrets?: readonly NamedSecret[] | undefined;
  /** Where deliveries go; the first that matches is used. @default nowhere: they are kept */
  forwards?: readonly Forward[] | undefined;
  /** Forward only these types, such as `email.*`; all are kept. @default '*' */
  events?: string | undefined;
  /** Port for deliveries; 0 for any free one. @default 4400 */
  port?: number | undefined;
  /** Address to listen at for deliveries. @default '127.0.0.1' */
  host?: string | undefined;
  /** The only path that accepts deliveries. @default '/webhooks/mail' */
  path?: string | undefined;
  /** Port of the page and its API, on this machine only; 0 for any free one, false for no page. @default 4401 */
  pagePort?: number | false | undefined;
  /** Folder of the built page. @default the one in the package */
  pageFolder?: string | undefined;
  /** Longest wait for the app's answer, in milliseconds; after 5 s it counts as none. @default 5,000 */
  timeoutMs?: number | undefined;
  /** Largest body of a delivery, in bytes. @default 5 MiB */
  maxBodyBytes?: number | undefined;
  /** Allows forwards and replays outside this machine and its private network. @default false */
  allowRemote?: boolean | undefined;
  /** Set on every request to the app, in place of headers with the same names. @default none: headers as received */
  headers?: HeaderList | undefined;
  /** Folder of the project; captures and endpoints of other folders are not touched. @default the working directory */
  cwd?: string | undefined;
  /** Where captures are kept. @default '.pigeonhole' in `cwd` */
  folder?: string | undefined;
  /** Maximum number of captures that are kept, of 256 MiB together. @default 1,000 */
  max?: number | undefined;
  /** How long captures are kept, in milliseconds. @default 7 days */
  keepMs?: number | undefined;
  /** `cloudflared`, `ngrok`, `tailscale`, or a command with `{port}` in it that prints its https URL. @default none */
  tunnel?: string | undefined;
  /** Longest wait for the tunnel's URL, in milliseconds. @default 30,000 */
  tunnelTimeoutMs?: number | undefined;
  /** Public URL of a tunnel that runs already; without a path it gets `path`. @default none */
  publicUrl?: string | undefined;
  /** Creates an endpoint that points here and deletes it at the end. Needs `tunnel` or `publicUrl`. @default none */
  register?: RegisterOptions | undefined;
  /** Database of a receiver, a file or the URL of a PostgreSQL, to show its inbox. @default none */
  inbox?: string | undefined;
  /**
   * Asked each second without `inbox`, until it names the database of a receiver that was made meanwhile.
   * @default none
   */
  findInbox?: (() => Promise<string | undefined>) | undefined;
  /**
   * An emulated service, started before; the dev server becomes its endpoint, with the first secret. The caller closes
   * it. @default none
   */
  sandbox?: DevSandbox | undefined;
  /**
   * Overrides for points about the signature that the service's documentation leaves open. @default
   * SIGNATURE_ASSUMPTIONS
   */
  assumptions?: Changes<SignatureAssumptions> | undefined;
  /**
   * Aborts the start: it rejects with the signal's reason, and nothing is left running. After the start use `close`.
   * @default none
   */
  signal?: AbortSignal | undefined;
  /** Receives the dev server's own events. @default none */
  report?: Report | undefined;
  /** All times and waits. @default the machine's */
  clock?: Clock | undefined;
}

const PORTS = { min: 0, max: 65_535 };

/** The defaults and checks of {@link DevServerOptions}. */
export const DEV_OPTIONS = defineOptions("startDevServer", {
  secrets: list<NamedSecret>({ default: [] }),
  forwards: list<Forward>({ default: [] }),
  events: given({ default: "*" }),
  port: wholeNumber({ default: 4400, ...PORTS }),
  host: given({ default: "127.0.0.1" }),
  path: readBy(checkPath, { default: DEFAULT_ENDPOINT_PATH }),
  pagePort: readBy<number | false, number | false>(checkPagePort, { default: 4401 }),
  pageFolder: given<string>(),
  timeoutMs: wholeNumber({ default: ANSWER_TIMEOUT_MS, min: 1, max: MAX_NODE_TIMER }),
  maxBodyBytes: wholeNumber({ default: 5 * 1024 * 1024, min: 1 }),
  allowRemote: flag({ default: false }),
  headers: given<HeaderList>({ default: [] }),
  cwd: given({ default: "." }),
  folder: given({ default: ".pigeonhole" }),
  max: CAPTURE_FOLDER_OPTIONS.rows.max,
  keepMs: CAPTURE_FOLDER_OPTIONS.rows.keepMs,
  tunnel: given<string>(),
  tunnelTimeoutMs: wholeNumber({ default: 30 * SECOND, min: 1, max: MAX_NODE_TIMER }),
  publicUrl: given<string>(),
  register: given<RegisterOptions>(),
  inbox: given<string>(),
  findInbox: callable<() => Promise<string | undefined>>(),
  sandbox: given<DevSandbox>(),
  assumptions: given<Changes<SignatureAssumptions>>({ default: {} }),
  signal: given<AbortSignal>(),
  report: readBy((_, report: Report) => withoutThrowing(report), { default: () => undefined }),
  clock: given<Clock>({ default: systemClock }),
} satisfies OptionsOf<DevServerOptions>);

/** The options, checked and filled in. */
export interface ResolvedDevServer extends Resolved<typeof DEV_OPTIONS> {
  rules: readonly ForwardRule[];
  isWanted: TypeMatcher;
}

/** Fills in defaults; throws `invalid_option` naming the option. */
export function resolveDevServerOptions(options: DevServerOptions): ResolvedDevServer {
  const resolved = DEV_OPTIONS.resolve(options);
  checkTogether(resolved);
  const { forwards, allowRemote, events } = resolved;
  return {
    ...resolved,
    rules: createForwardRules(forwards, { allowRemote }),
    isWanted: parsePatterns(events, "events"),
  };
}

/** The rules about several options. */
function checkTogether({ register, tunnel, publicUrl }: Resolved<typeof DEV_OPTIONS>): void {
  if (register !== undefined && tunnel === undefined && publicUrl === undefined) {
    throw new PigeonholeError(
      "invalid_option",
      "register needs an https URL that the service can reach: give tunnel (such as cloudflared) or publicUrl.",
    );
  }
  if (register !== undefined && publicUrl !== undefined && !/^https:/i.test(publicUrl)) {
    throw new PigeonholeError(
      "invalid_option",
      "publicUrl must be an https URL: the service accepts no other for an endpoint.",
    );
  }
  if (tunnel !== undefined && publicUrl !== undefined) {
    throw new PigeonholeError("invalid_option", "Give tunnel or publicUrl, not both.");
  }
}

/** A reporter that fails must not lose a delivery. */
function withoutThrowing(report: Report): Report {
  return (event) => {
    try {
      report(event);
    } catch {
      // A failed reporter has nowhere to report to.
    }
  };
}

function checkPath(option: string, path: string): string {
  if (/^\/[\w~!$&'()*+,;=:@%./-]*$/.test(path)) return path;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must start with "/" and contain no "?" or "#", got "${path}".`,
  );
}

function checkPagePort(option: string, port: number | false): number | false {
  return port === false ? false : checkWholeNumber(option, port, PORTS);
}
