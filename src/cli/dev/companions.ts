import { rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { SECOND } from "../../base/duration.js";
import { systemClock } from "../../base/clock.js";
import { makeFolder } from "../../capture/folder/load-folder.js";
import { writePrivateFile } from "../../capture/folder/private-folder.js";
import { DevSandbox } from "../../dev/sandbox/dev-sandbox.js";
import { DEV_FILE_VARIABLE } from "../../store/tell-dev-server.js";
import { type AppProcess, startApp, waitForApp, portVariable, portOf, isTaken } from "../app/app-process.js";
import type { CommandInput } from "../frame/context.js";
import { API_KEY_VARIABLE, BASE_URL_VARIABLE } from "../values/api-client.js";
import { DEV_FILE, SECRET_VARIABLE } from "../values/secret-option.js";
import type { DevLines } from "./print-lines.js";
import type { DevSetup } from "./dev-setup.js";
import type { dev } from "./spec.js";
import { PigeonholeError } from "../../base/error.js";

/** Less than the time that the command has after Ctrl-C. */
const APP_GRACE_MS = 7 * SECOND;
const PATIENCE_MS = 5 * SECOND;
const WHAT_TO_DO =
  "Its lines above say why; start dev again after a fix. With a --start that restarts the app, such as node --watch, dev goes on meanwhile.";

/** The app and the emulated service beside the dev server. */
export interface Companions {
  readonly sandbox: DevSandbox | undefined;
  /** Aborted by Ctrl-C, and when the app has ended by itself. */
  readonly signal: AbortSignal;
  /** Resolves when the app answers, without a limit: it may wait for a file to be changed. */
  answered(): Promise<void>;
  /** Ends both. Resolves with the exit code of an app that had ended by itself, and else with 0. */
  close(): Promise<number>;
}

interface CompanionsInput {
  input: CommandInput<typeof dev>;
  setup: DevSetup;
  lines: DevLines;
}

/** Starts what the options ask for. Rejects with `port_in_use`; then nothing runs. */
export async function startCompanions({ input, setup, lines }: CompanionsInput): Promise<Companions> {
  const { options, context } = input;
  await checkPorts(portsOf(input, setup));
  const sandbox = options.withSandbox === undefined ? undefined : await startSandbox(input, lines);
  const { baseUrl, apiKey } = sandbox?.service ?? {};
  const api = baseUrl && apiKey ? { [BASE_URL_VARIABLE]: baseUrl, [API_KEY_VARIABLE]: apiKey } : {};
  const devFile = resolve(context.cwd, DEV_FILE);
  await writeVariables(devFile, api);
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  let exitCode = 0;
  const known = { ...api, [DEV_FILE_VARIABLE]: devFile };
  const app = options.start === undefined ? undefined : startWith({ input, setup, lines }, known);
  if (app !== undefined) {
    context.expectInterruption();
    void app.ended.then((code) => {
      if (signal.aborted) return;
      // It was ended from outside, by Ctrl-C or SIGTERM.
      exitCode = code === 130 || code === 143 ? 0 : code;
      const advice = exitCode === 0 ? "" : ` ${WHAT_TO_DO}`;
      lines.out.note(`The app has ended: ${app.ending}.${advice}`);
      over.abort(new Error("The app has ended."));
    });
  }
  return {
    sandbox,
    signal,
    async answered() {
      if (app !== undefined) await untilAnswered({ input, setup, lines, signal });
    },
    async close() {
      over.abort();
      await app?.stop();
      await sandbox?.close();
      rmSync(devFile, { force: true });
      return exitCode;
    },
  };
}

interface WaitInput extends CompanionsInput {
  signal: AbortSignal;
}

/** Every port that something will listen at. The app is the first target. */
function portsOf({ options }: CompanionsInput["input"], { app }: DevSetup) {
  const { port, pagePort, page, sandboxPort, host, start, withSandbox } = options;
  const own = "127.0.0.1";
  return [
    ...(start === undefined ? [] : [{ hostname: app.url.hostname, port: portOf(app.url), by: app.by }]),
    { hostname: host, port, by: "DEV_PORT, --port" },
    ...(page ? [{ hostname: own, port: pagePort, by: "DEV_PAGE_PORT, --page-port" }] : []),
    ...(withSandbox === undefined ? [] : [{ hostname: own, port: sandboxPort, by: "SANDBOX_PORT, --sandbox-port" }]),
  ];
}

async function startSandbox({ options }: CompanionsInput["input"], lines: DevLines): Promise<DevSandbox> {
  const { sandboxPort: port, withSandbox: eventTypes = [] } = options;
  const sandbox: DevSandbox = await DevSandbox.start({
    port,
    eventTypes,
    clock: systemClock,
    onLog: (entry) => lines.sandbox(entry, sandbox),
  });
  return sandbox;
}

/** The other commands find them there; the app adds the database that it opens. */
async function writeVariables(file: string, variables: Record<string, string>): Promise<void> {
  const lines = Object.entries(variables).map((pair) => `${pair.join("=")}\n`);
  makeFolder(dirname(file));
  await writePrivateFile(file, lines.join(""));
}

function startWith({ input, setup, lines }: CompanionsInput, known: Record<string, string>): AppProcess {
  const { env, cwd } = input.context;
  const [secret] = setup.secrets;
  const own = {
    NODE_ENV: env["NODE_ENV"] ?? "development",
    ...portVariable(setup.app.url, input.context),
    ...(secret !== undefined && { [SECRET_VARIABLE]: secret.value }),
    ...known,
  };
  const command = input.options.start ?? "";
  return startApp({ command, env: { ...env, ...own }, cwd, graceMs: APP_GRACE_MS, onLine: lines.app });
}

async function untilAnswered({ input, setup, lines, signal }: WaitInput): Promise<void> {
  const { origin } = setup.app.url;
  const timer = setTimeout(() => {
    const text = `Waits for the app at ${origin} (${setup.app.by}); deliveries are received once it answers. If its lines above have an error, fix that; dev goes on when it answers. If it listens elsewhere, give that with --forward-to.`;
    lines.out.result({ kind: "waiting_for_app", origin }, text);
  }, PATIENCE_MS);
  try {
    const { allowRemote } = input.options;
    const wait = { url: `${origin}/`, patienceMs: Infinity, allowRemote };
    await waitForApp({ ...wait, app: undefined, signal });
  } finally {
    clearTimeout(timer);
  }
}

/** A port that will be listened at. */
interface WantedPort {
  hostname: string;
  /** 0 for any free one. */
  port: number;
  /** The variable or the flag that changes it. */
  by: string;
}

/**
 * Throws one `port_in_use` that names all ports in use. Looked at before anything starts: what listens there already
 * would be taken for our own.
 */
async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  const checks = await Promise.all(
    wanted.map(async (one) => ({ ...one, taken: one.port !== 0 && (await isTaken(one)) })),
  );
  const taken = checks.filter((check) => check.taken).map(({ port, by }) => `${port} (${by})`);
  if (taken.length === 0) return;
  throw new PigeonholeError(
    "port_in_use",
    `In use by another program: ${taken.join(", ")}. Does dev run already? End what listens there, or give other ports in .env or by flags.`,
  );
}
