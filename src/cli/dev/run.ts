import { basename } from "node:path";
import type { DevServerOptions } from "../../dev/options.js";
import { startDevServer } from "../../dev/start-dev-server.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import { untilInterrupted } from "../frame/interruption.js";
import { openClient } from "../values/api-client.js";
import { withFlagNames } from "../values/flag-values.js";
import { findInbox } from "../values/find-inbox.js";
import { type InboxPlace, readPlace } from "../values/inbox-place.js";
import { startCompanions } from "./companions.js";
import { type DevSetup, readSetup } from "./dev-setup.js";
import { createDevLines, type DevLines } from "./print-lines.js";
import type { dev } from "./spec.js";

type Input = CommandInput<typeof dev>;

/** Options in code whose flag has another name. */
const FLAGS = {
  forwards: "--forward-to",
  timeoutMs: "--timeout",
};

/** Runs until Ctrl-C or the end of the app that was started, and cleans up at the end. */
export const run: RunCommand<typeof dev> = async (input) => {
  const { options, context } = input;
  const hasCompanions = options.start !== undefined || options.withSandbox !== undefined;
  const lines = createDevLines(context, hasCompanions);
  const setup = readSetup(input, lines.out);
  const serverOptions = readOptions(input, setup);
  if (!hasCompanions) return serve(input, lines, { ...serverOptions, signal: context.signal });
  const companions = await startCompanions({ input, setup, lines });
  const { sandbox, signal } = companions;
  let exitCode = 0;
  try {
    await companions.answered();
    await serve(input, lines, { ...serverOptions, sandbox, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    exitCode = await companions.close();
  }
  return exitCode;
};

async function serve(
  { options, context }: Input,
  lines: DevLines,
  serverOptions: DevServerOptions & { signal: AbortSignal },
): Promise<void> {
  const { signal } = serverOptions;
  const { out } = lines;
  // Looked for now, since an app that was started creates it; one that is made later is found then.
  let inbox =
    options.inbox === undefined ? await findUsualInbox(context, out) : readPlace("--inbox", options.inbox, context);
  if (out.isTerminal) out.result({}, `  ${out.paint.bold("pigeonhole dev")} ${context.version}`);
  const report = lines.createReport(() => inbox?.flag);
  const findLater = async (): Promise<string | undefined> => (inbox = await findUsualInbox(context))?.at;
  const server = await withFlagNames(FLAGS, () =>
    startDevServer({ ...serverOptions, inbox: inbox?.at, findInbox: findLater, report }),
  );
  await untilInterrupted(signal);
  await server.close();
}

/** The receiver's database without a flag. One that is another program's is no reason not to start. */
async function findUsualInbox(context: Input["context"], out?: DevLines["out"]): Promise<InboxPlace | undefined> {
  const found = await findInbox(context);
  if (found.kind === "absent") return undefined;
  if (found.kind !== "open") {
    out?.note(`${out.paint.yellow("!")} ${found.place.by ?? basename(found.place.at)}: ${found.error.message}`);
    return undefined;
  }
  await found.inbox.close();
  return found.place;
}

function readOptions({ options, context }: Input, { secrets, forwards }: DevSetup): DevServerOptions {
  const { page, pagePort, tunnel, publicUrl, timeout } = options;
  const { events, port, host, path, allowRemote, header } = options;
  if (options.register && tunnel === undefined && publicUrl === undefined) {
    throw usageError(
      "--register needs an https URL at which the service reaches this machine: give --tunnel cloudflared (or ngrok, tailscale), or --public-url with that of a tunnel that runs already.",
    );
  }
  return {
    secrets,
    forwards,
    events,
    port,
    host,
    path,
    pagePort: page ? pagePort : false,
    timeoutMs: timeout,
    allowRemote,
    cwd: context.cwd,
    headers: header,
    tunnel,
    publicUrl,
    ...(options.register && { register: { client: openClient(context) } }),
  };
}
