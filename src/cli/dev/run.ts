import { isPigeonholeError } from "../../base/error.js";
import type { DevEvent } from "../../dev/dev-event.js";
import type { DevServerOptions } from "../../dev/options.js";
import { parseForward } from "../../dev/forward/forward-rules.js";
import { createLineWriter, formatJsonLine, type Tone } from "../../dev/line-writer.js";
import { startDevServer } from "../../dev/start-dev-server.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { reportSecrets } from "../values/report-secrets.js";
import { openInbox } from "../../store/open-inbox.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import { untilInterrupted } from "../frame/interruption.js";
import { readKeys } from "./read-keys.js";
import type { Output, Paint } from "../frame/output.js";
import type { dev } from "./spec.js";
import { openClient } from "../values/api-client.js";
import { DATABASE_VARIABLE, namedInboxFile } from "../values/inbox-file.js";
import { readCertificates, withFlagNames } from "../values/flag-values.js";
import { findSecrets } from "../values/secret-option.js";

type Input = CommandInput<typeof dev>;

/** Options in code whose flag has another name. */
const FLAGS = {
  forwards: "--forward-to",
  folder: "--store",
  keepMs: "--keep",
  timeoutMs: "--timeout",
  maxBodyBytes: "--max-body",
};

/** Runs until Ctrl-C or q, and cleans up at the end. */
export const run: RunCommand<typeof dev> = async (input) => {
  const { context } = input;
  const { out, signal, version } = context;
  const report = createReporter(out);
  const options = readOptions(input);
  const inbox = await findInbox(input);
  if (out.isTerminal) out.result({}, `  ${out.paint.bold("pigeonhole dev")} ${version}`);
  const server = await withFlagNames(FLAGS, () => startDevServer({ ...options, inbox, report }));
  const quit = new AbortController();
  const say = (text: string): void => out.result({}, `  ${text}`);
  const stopKeys = readKeys(context, {
    r: { what: "replays the last delivery", press: () => replayLast(server, say) },
    o: { what: "shows the page's address", press: () => say(server.pageUrl ?? "There is no page.") },
    p: { what: "pauses forwarding, or resumes it", press: () => (server.paused ? server.resume() : server.pause()) },
    q: { what: "quits", press: () => quit.abort() },
  });
  try {
    await untilInterrupted(AbortSignal.any([signal, quit.signal]));
  } finally {
    stopKeys();
    await server.close();
  }
};

async function replayLast(
  server: Awaited<ReturnType<typeof startDevServer>>,
  say: (text: string) => void,
): Promise<void> {
  const [last] = server.captures.list();
  if (last === undefined) say("There is nothing to replay yet.");
  else await server.replay({ ids: [last.id] });
}

function createReporter(out: Output): (event: DevEvent) => void {
  if (out.isJson) return (event) => out.raw(`${formatJsonLine(event)}\n`);
  const writer = createLineWriter({
    paint: (tone, text) => paintTone(out.paint, tone, text),
    columns: () => (out.isTerminal ? process.stdout.columns : undefined),
  });
  return (event) => {
    for (const line of writer.write(event)) out.result({}, line);
  };
}

function paintTone(paint: Paint, tone: Tone, text: string): string {
  switch (tone) {
    case "good":
      return paint.green(text);
    case "bad":
      return paint.red(text);
    case "warn":
      return paint.yellow(text);
    case "dim":
      return paint.dim(text);
    case "strong":
      return paint.bold(text);
    case "plain":
      return text;
  }
}

/** Warn once now, instead of a mismatch at every delivery. */
function checkedSecrets({ options, context }: Input): NamedSecret[] {
  const secrets = findSecrets(options.secret, context);
  for (const { status, message, fix } of secrets.length === 0 ? [] : reportSecrets(secrets)) {
    if (status !== "pass") context.out.note(`${context.out.paint.yellow("!")} ${message} ${fix ?? ""}`.trimEnd());
  }
  return secrets;
}

/** The receiver's database: the given one, or the one that the variable names. */
async function findInbox({ options, context }: Input): Promise<string | undefined> {
  if (options.inbox !== undefined) return options.inbox;
  const named = namedInboxFile(context);
  if (named === undefined) return undefined;
  try {
    await (await openInbox(named)).close();
    return named;
  } catch (error) {
    // It may be another program's variable, so it is no reason not to start.
    if (!isPigeonholeError(error)) throw error;
    context.out.note(`${context.out.paint.yellow("!")} ${DATABASE_VARIABLE}: ${error.message}`);
    return undefined;
  }
}

function readOptions(input: Input): DevServerOptions {
  const { options, context } = input;
  const { forwardTo, page, pagePort, cacert, tunnel, publicUrl, readyFile, timeout, maxBody, keep, store } = options;
  const { events, port, host, path, onInvalid, whenDown, insecure, allowRemote, max, header } = options;
  if (options.registerType.length > 0 && !options.register) {
    throw usageError("--register-type says which events the endpoint of --register receives; give --register too.");
  }
  if (options.register && tunnel === undefined && publicUrl === undefined) {
    throw usageError(
      "--register needs an https URL at which the service reaches this machine: give --tunnel cloudflared (or ngrok, tailscale), or --public-url with that of a tunnel that runs already.",
    );
  }
  return {
    secrets: checkedSecrets(input),
    forwards: forwardTo.map(parseForward),
    events,
    port,
    host,
    path,
    pagePort: page ? pagePort : false,
    onInvalid,
    whenDown,
    timeoutMs: timeout,
    maxBodyBytes: maxBody,
    insecure,
    allowRemote,
    cwd: context.cwd,
    folder: store,
    headers: header,
    signal: context.signal,
    keepMs: keep,
    max,
    ...(cacert !== undefined && { ca: readCertificates(cacert, context.cwd) }),
    tunnel,
    publicUrl,
    readyFile,
    ...(options.register && {
      register: { client: openClient(options, context), eventTypes: options.registerType },
    }),
  };
}
