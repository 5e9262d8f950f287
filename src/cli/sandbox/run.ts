import { sleep } from "../../base/wait.js";
import { waitingClock } from "../../base/clock.js";
import { errorMessage } from "../../base/error-text.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { isLocalAddress, isLocalHost } from "../../capture/send/local-address.js";
import { createSandbox } from "../../sandbox/create-sandbox.js";
import type { WebhookCreateInput } from "../../contract/webhook-endpoint.js";
import type { EndpointWithSecret, Sandbox } from "../../sandbox/sandbox.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import { untilInterrupted } from "../frame/interruption.js";
import { formatSandboxEntry } from "../values/format-sandbox-entry.js";
import type { sandbox } from "./spec.js";
import type { WantedEndpoint } from "../values/wanted-endpoint.js";
import { withFlagNames } from "../values/flag-values.js";
import { readNamed } from "../values/secret-option.js";
import { checkSandboxSecret, findSigningSecret } from "../values/signing-secret.js";

type Input = CommandInput<typeof sandbox>;

/** An example of the flag that gives an endpoint another path. */
const PATH_BY = "--endpoint http://127.0.0.1:3000/hooks";

/** Runs until Ctrl-C. */
export const run: RunCommand<typeof sandbox> = async (input) => {
  const { options, context } = input;
  const { out, signal } = context;
  const { clock, speed, seed, strictUrls } = options;
  if (options.every !== undefined && options.emit.length === 0) {
    throw usageError("--every says how often --emit fires; give --emit too.");
  }
  if (clock !== "real" && speed !== undefined)
    throw usageError(`--speed and --clock ${clock} cannot be used together.`);
  // Every option is checked before anything listens.
  const secret = findSigningSecret(options.secret, context);
  if (secret !== undefined && options.endpoint.length > 0) checkSandboxSecret(secret);
  // No variable is used for it: the variable of the other commands may contain the key of the real workspace.
  const apiKey = options.apiKey === undefined ? undefined : readNamed("--api-key", options.apiKey, context);
  if (apiKey !== undefined) checkApiKey(apiKey);
  if (!options.allowRemote) for (const { url } of options.endpoint) await checkLocal(url);
  await withFlagNames({}, async () => {
    const emulated = createSandbox({
      clock: speed === undefined ? clock : { speed },
      // The receiver is another process, which uses the machine's clock.
      receiverTime: "machine",
      strictUrls,
      ...(!options.allowRemote && { refuseAddress }),
      seed,
      ...(apiKey !== undefined && { apiKeys: [{ token: apiKey.value }] }),
      onLog: (entry) => {
        const present = { endpoints: emulated.endpoints.list(), allBy: "--endpoint <url>=all", pathBy: () => PATH_BY };
        out.result({ ...entry }, formatSandboxEntry(entry, out.paint, present));
      },
    });
    try {
      await start(emulated, input, { secret, apiKey });
      await Promise.all([untilInterrupted(signal), fire(emulated, input)]);
    } finally {
      await emulated.close();
    }
  });
};

interface GivenSecrets {
  secret: NamedSecret | undefined;
  apiKey: NamedSecret | undefined;
}

async function start(emulated: Sandbox, { options, context }: Input, given: GivenSecrets): Promise<void> {
  const { out } = context;
  const { secret } = given;
  const { url } = await emulated.listen({ port: options.port });
  const { seed } = emulated;
  // A given one is already known, and a real one must not be shown.
  const apiKey = given.apiKey?.ref ?? emulated.apiKey;
  out.result(
    { kind: "ready", baseUrl: url, ...(given.apiKey === undefined ? { apiKey } : { apiKeyRef: apiKey }), seed },
    [
      `  ${out.paint.bold("pigeonhole sandbox")} ${context.version}`,
      `  API         ${url}`,
      `  API key     ${apiKey}`,
      `  Control     ${url}/sandbox/`,
      `  Seed        ${seed}`,
    ].join("\n"),
  );
  createEndpoints({ emulated, endpoints: options.endpoint, secret, out });
  out.result({ kind: "listening" }, `  ${out.paint.green("Ready.")}`);
}

/** The service's keys have one prefix. The rest must be at least as long as in the sandbox's own keys. */
function checkApiKey({ ref, value }: NamedSecret): void {
  if (/^svc_live_[\w-]{24,200}$/.test(value)) return;
  throw usageError(`${ref}: an API key must be svc_live_ and 24 to 200 letters, digits, _ or -.`);
}

/** Applies also to endpoints created through the API, and to the addresses of a name at the time of sending. */
function refuseAddress(address: string): string | undefined {
  return isLocalAddress(address)
    ? undefined
    : "outside this machine and its private network; --allow-remote permits that";
}

interface EndpointsInput {
  emulated: Sandbox;
  endpoints: readonly WantedEndpoint[];
  secret: NamedSecret | undefined;
  out: Output;
}

function createEndpoints({ emulated, endpoints, secret, out }: EndpointsInput): void {
  for (const { url, eventTypes } of endpoints) {
    const endpoint = create(emulated, { url, ...(eventTypes !== undefined && { eventTypes }) }, secret);
    // A given one is already known, and a real one must not be shown.
    const shown = secret === undefined ? { secret: endpoint.secret } : { secretRef: secret.ref };
    const { id } = endpoint;
    const words = `  Endpoint    ${id}  ${url}\n  Secret      ${secret === undefined ? endpoint.secret : secret.ref}`;
    out.result({ kind: "endpoint_ready", endpoint: { id, url, eventTypes: endpoint.eventTypes }, ...shown }, words);
  }
}

async function checkLocal(url: string): Promise<void> {
  const target = new URL(url);
  if (await isLocalHost(target)) return;
  throw usageError(
    `--endpoint: ${target.hostname} is outside this machine and its private network. The events of the sandbox are made up, but a receiver with the secret would accept them as genuine; --allow-remote permits that.`,
  );
}

/** A refusal by the rules of the API is a usage error here. */
function create(emulated: Sandbox, input: WebhookCreateInput, secret: NamedSecret | undefined): EndpointWithSecret {
  try {
    return emulated.endpoints.create(input, secret === undefined ? {} : { secret: secret.value });
  } catch (error) {
    throw usageError(`--endpoint ${input.url}: ${errorMessage(error)}`);
  }
}

/** Fires the events of `--emit`, again and again with `--every`. */
async function fire(emulated: Sandbox, { options, context }: Input): Promise<void> {
  const { emit, every } = options;
  const { signal, out } = context;
  if (emit.length === 0) return;
  for (;;) {
    for (const type of emit) {
      emulated.emit(type);
      if (every !== undefined && !(await wait(every, signal))) return;
    }
    if (every === undefined) break;
  }
  out.note(`  Fired ${emit.join(", ")}.`);
}

async function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(waitingClock, ms, signal);
    return true;
  } catch {
    return false;
  }
}
