import { sleep } from "../../base/sleep.js";
import { waitingClock } from "../../base/waiting-clock.js";
import { createSandbox } from "../../sandbox/create-sandbox.js";
import type { WebhookCreateInput } from "../../contract/webhook-endpoint.js";
import type { EndpointWithSecret, Sandbox } from "../../sandbox/sandbox.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import { untilInterrupted } from "../frame/interruption.js";
import { formatSandboxEntry } from "../frame/sandbox-lines.js";
import type { sandbox } from "../specs/sandbox.js";
import { withFlagNames } from "../values/flag-names.js";
import { findSecrets } from "../values/secret-option.js";

type Input = CommandInput<typeof sandbox>;

/** Runs until Ctrl-C. */
export const run: RunCommand<typeof sandbox> = async (input) => {
  const { options, context } = input;
  const { out, signal } = context;
  const { clock, speed, seed, strictUrls } = options;
  if (options.every !== undefined && options.emit.length === 0) {
    throw usageError("--every says how often --emit fires; give --emit too.");
  }
  if (clock === "manual" && speed !== undefined) throw usageError("--speed and --clock manual exclude each other.");
  await withFlagNames({}, async () => {
    const emulated = createSandbox({
      clock: speed === undefined ? clock : { speed },
      // The receiver is another process, which goes by the machine's clock.
      receiverTime: "machine",
      strictUrls,
      ...(seed !== undefined && { seed }),
      onLog: (entry) => out.result({ ...entry }, formatSandboxEntry(entry, out.paint, emulated.endpoints.list())),
    });
    try {
      await start(emulated, input);
      await Promise.all([untilInterrupted(signal), fire(emulated, input)]);
    } finally {
      await emulated.close();
    }
  });
};

async function start(emulated: Sandbox, { options, context }: Input): Promise<void> {
  const { out } = context;
  const { url } = await emulated.listen({ port: options.port });
  const { apiKey, seed } = emulated;
  out.result(
    { kind: "ready", baseUrl: url, apiKey, seed },
    [
      `  ${out.paint.bold("pigeonhole sandbox")} ${context.version}`,
      `  API         ${url}`,
      `  API key     ${apiKey}`,
      `  Control     ${url}/sandbox/`,
      `  Seed        ${seed}`,
    ].join("\n"),
  );
  createEndpoints(emulated, options, context);
  out.result({ kind: "listening" }, `  ${out.paint.green("Ready.")}`);
}

function createEndpoints(emulated: Sandbox, options: Input["options"], context: Input["context"]): void {
  const [secret] = findSecrets(options.secret, context);
  for (const { url, eventTypes } of options.endpoint) {
    const given = secret === undefined ? {} : { secret: secret.value };
    const endpoint = create(emulated, { url, ...(eventTypes !== undefined && { eventTypes }) }, given);
    // One that was given is known already, and a real one may not be shown.
    const shown = secret === undefined ? { secret: endpoint.secret } : { secretRef: secret.ref };
    const { id } = endpoint;
    const words = `  Endpoint    ${id}  ${url}\n  Secret      ${secret === undefined ? endpoint.secret : secret.ref}`;
    context.out.result(
      { kind: "endpoint_ready", endpoint: { id, url, eventTypes: endpoint.eventTypes }, ...shown },
      words,
    );
  }
}

/** What the rules of the API refuse is a mistake on the command line here. */
function create(emulated: Sandbox, input: WebhookCreateInput, given: { secret?: string }): EndpointWithSecret {
  try {
    return emulated.endpoints.create(input, given);
  } catch (error) {
    throw usageError(`--endpoint ${input.url}: ${error instanceof Error ? error.message : "it was refused."}`);
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
