import { errorMessage } from "../../base/error-text.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { isLocalAddress, isLocalHost } from "../../capture/send/local-address.js";
import { createSandbox } from "../../sandbox/create-sandbox.js";
import type { SandboxOptions } from "../../sandbox/options.js";
import type { Sandbox } from "../../sandbox/control/sandbox.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import { untilInterrupted } from "../frame/interruption.js";
import { formatSandboxEntry } from "../values/format-sandbox-entry.js";
import type { sandbox } from "./spec.js";
import { withFlagNames, readInput } from "../values/flag-values.js";
import { checkSandboxSecret, findSigningSecret } from "../values/secret-option.js";

type Input = CommandInput<typeof sandbox>;

/** The flags that make an endpoint receive more, or give it another path. */
const FLAGS = { allBy: "--endpoint <url>=all", pathBy: () => "--endpoint http://127.0.0.1:3000/hooks" };

/** Runs until Ctrl-C. */
export const run: RunCommand<typeof sandbox> = async (input) => {
  const { options, context } = input;
  const { out, signal } = context;
  const { clock, seed, allowRemote } = options;
  // Every option is checked before anything listens.
  const secret = findSigningSecret(options.secret, context);
  if (secret !== undefined && options.endpoint.length > 0) checkSandboxSecret(secret);
  if (!allowRemote) for (const { url } of options.endpoint) await checkLocal(url);
  const given = await readOptions(options.options, context);
  await withFlagNames({}, async () => {
    const emulated = refusing("--options", () =>
      createSandbox({
        // The receiver is another process, which uses the machine's clock.
        receiverTime: "machine",
        ...given,
        ...(clock !== undefined && { clock }),
        ...(!allowRemote && { refuseAddress }),
        ...(seed !== undefined && { seed }),
        onLog: (entry) => {
          const present = { endpoints: emulated.endpoints.list(), ...FLAGS };
          out.result({ ...entry }, formatSandboxEntry(entry, out.paint, present));
        },
      }),
    );
    try {
      await start(emulated, input, { secret, hasOwnKey: given.apiKeys === undefined });
      await untilInterrupted(signal);
    } finally {
      await emulated.close();
    }
  });
};

interface Secrets {
  secret: NamedSecret | undefined;
  /** False: its API keys are those of `--options`. */
  hasOwnKey: boolean;
}

/** The options of a file. What the parser says of it is not shown: it quotes the file, which may hold keys. */
async function readOptions(file: string | undefined, context: Input["context"]): Promise<SandboxOptions> {
  if (file === undefined) return {};
  const text = (await readInput("--options", file, context)).toString();
  try {
    return { ...(JSON.parse(text) as SandboxOptions) };
  } catch {
    throw usageError(`--options: ${file} is not JSON.`);
  }
}

async function start(emulated: Sandbox, input: Input, { secret, hasOwnKey }: Secrets): Promise<void> {
  const { options, context } = input;
  const { out } = context;
  const { url } = await emulated.listen({ port: options.port });
  const { seed } = emulated;
  // A given one is already known, and a real one must not be shown.
  const apiKey = hasOwnKey ? emulated.apiKey : "of --options";
  out.result(
    { kind: "ready", baseUrl: url, ...(hasOwnKey && { apiKey }), seed },
    [
      `  ${out.paint.bold("pigeonhole sandbox")} ${context.version}`,
      `  API         ${url}`,
      `  API key     ${apiKey}`,
      `  Control     ${url}/sandbox/`,
      `  Seed        ${seed}`,
    ].join("\n"),
  );
  createEndpoints(emulated, input, secret);
  out.result({ kind: "listening" }, `  ${out.paint.green("Ready.")}`);
}

/** Applies also to endpoints created through the API, and to the addresses of a name at the time of sending. */
function refuseAddress(address: string): string | undefined {
  return isLocalAddress(address)
    ? undefined
    : "outside this machine and its private network; --allow-remote permits that";
}

function createEndpoints(emulated: Sandbox, { options, context }: Input, secret: NamedSecret | undefined): void {
  for (const { url, eventTypes } of options.endpoint) {
    const input = { url, ...(eventTypes !== undefined && { eventTypes }) };
    const own = secret === undefined ? {} : { secret: secret.value };
    const endpoint = refusing(`--endpoint ${url}`, () => emulated.endpoints.create(input, own));
    // A given one is already known, and a real one must not be shown.
    const shown = secret === undefined ? { secret: endpoint.secret } : { secretRef: secret.ref };
    const { id } = endpoint;
    const words = `  Endpoint    ${id}  ${url}\n  Secret      ${secret === undefined ? endpoint.secret : secret.ref}`;
    context.out.result(
      { kind: "endpoint_ready", endpoint: { id, url, eventTypes: endpoint.eventTypes }, ...shown },
      words,
    );
  }
}

async function checkLocal(url: string): Promise<void> {
  const target = new URL(url);
  if (await isLocalHost(target)) return;
  throw usageError(
    `--endpoint: ${target.hostname} is outside this machine and its private network. The events of the sandbox are made up, but a receiver with the secret would accept them as genuine; --allow-remote permits that.`,
  );
}

/** A refusal by the rules of the sandbox is a usage error here. */
function refusing<Made>(flag: string, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw usageError(`${flag}: ${errorMessage(error)}`);
  }
}
