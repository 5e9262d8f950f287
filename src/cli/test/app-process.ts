import { spawn } from "node:child_process";
import { connect } from "node:net";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { signalGroup } from "../../dev/signal-group.js";
import { sleep } from "../../base/wait.js";
import { waitingClock } from "../../base/clock.js";
import { sendRequest } from "../../capture/send/send-request.js";
import { EXIT } from "../frame/exit-code.js";
import { CommandError } from "../frame/command-error.js";

/** An app that was started for the time of a command. */
export interface AppProcess {
  /** Set once the app has ended by itself. */
  readonly ending: string | undefined;
  /** The last output of the app. */
  readonly lastWords: string;
  /** Ends the app and all programs that it started. */
  stop(): Promise<void>;
}

/** SIGTERM, then SIGKILL if it does not end. */
const GRACE_MS = 5 * SECOND;
const POLL_INTERVAL_MS = 100;
const MAX_WORDS = 4000;

/** On this machine a port answers at once or not at all. */
const CONNECT_TIMEOUT_MS = 2 * SECOND;

/** Throws `port_in_use` if a program already listens at the target: it would be mistaken for the app. */
export async function checkNothingAnswers(target: URL): Promise<void> {
  const { hostname, protocol } = target;
  const port = Number(target.port === "" ? (protocol === "https:" ? 443 : 80) : target.port);
  const isTaken = await new Promise<boolean>((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[(.*)\]$/, "$1"), port });
    const settle = (taken: boolean) => (): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, settle(false));
    socket.once("connect", settle(true)).once("error", settle(false));
  });
  if (!isTaken) return;
  throw new PigeonholeError(
    "port_in_use",
    `Port ${port} (--to) is in use by another program, which would be tested in place of the app. End it, leave out --start to test it, or have the app listen at another port and give that with --to.`,
  );
}

/** Starts a command line through the shell, in its own process group. */
export function startApp(command: string, env: NodeJS.ProcessEnv, cwd: string): AppProcess {
  const child = spawn(command, { shell: true, detached: true, stdio: ["ignore", "pipe", "pipe"], env, cwd });
  let lastWords = "";
  let ending: string | undefined;
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      ending = error.message;
      resolve();
    });
    child.once("exit", (code, signal) => {
      ending = signal === null ? `exit code ${code ?? 0}` : signal;
      resolve();
    });
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (lastWords = (lastWords + text).slice(-MAX_WORDS)));
  }
  return {
    get ending() {
      return ending;
    },
    get lastWords() {
      return lastWords;
    },
    async stop() {
      // Also after the shell has ended: programs that it started may still run.
      signalGroup(child, "SIGTERM");
      const timer = setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

export interface AppWait {
  url: string;
  /** Whether an answer below 500 is needed, or any answer is enough. */
  isHealth: boolean;
  patienceMs: number;
  allowRemote: boolean;
  /** The process that must answer; undefined if it was not started here. */
  app: AppProcess | undefined;
  signal: AbortSignal;
}

/** Resolves when the app answers; rejects with the reason if it ends or takes too long. */
export async function waitForApp({ url, isHealth, patienceMs, allowRemote, app, signal }: AppWait): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const request = { url, method: "GET", headers: [], body: Buffer.alloc(0), timeoutMs: 2 * SECOND };
    const { status, error } = await sendRequest({ ...request, allowRemote, signal });
    if (status !== null && (!isHealth || status < 500)) return;
    if (app?.ending !== undefined) {
      throw unreachable(`The app ended before it answered (${app.ending}).`, app);
    }
    if (Date.now() > deadline) {
      throw unreachable(`${url} did not answer in time: ${error ?? `status ${String(status)}`}`, app);
    }
    await sleep(waitingClock, POLL_INTERVAL_MS, signal);
  }
}

function unreachable(what: string, app: AppProcess | undefined): CommandError {
  const words = app === undefined || app.lastWords === "" ? "" : ` Its last output:\n${app.lastWords.trimEnd()}`;
  return new CommandError(EXIT.unreachable, "app_unreachable", `${what}${words}`);
}
