import { spawn } from "node:child_process";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { connect } from "node:net";
import { SECOND } from "../../base/duration.js";
import { escapeControls } from "../../base/text.js";
import { sendRequest } from "../../capture/send/send-request.js";
import { hasGroup, signalGroup } from "../../dev/tunnel/signal-group.js";
import { EXIT, CommandError } from "../frame/command-error.js";
import { wait } from "../frame/interruption.js";
import type { CommandContext } from "../frame/context.js";
import { readVariable } from "../values/secret-option.js";

/** An app that was started for the time of a command. */
export interface AppProcess {
  /** The command line that started it. */
  readonly command: string;
  /** Set once the app has ended by itself. */
  readonly ending: string | undefined;
  /** The last output of the app. */
  readonly lastWords: string;
  /** Resolves with the exit code once the app has ended; 128 and the signal's number for a signal. */
  readonly ended: Promise<number>;
  /** Ends the app and all programs that it started. */
  stop(): Promise<void>;
}

export interface AppStart {
  /** A command line for the shell. */
  command: string;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Longest wait for the end of the app after SIGTERM, in milliseconds. */
  graceMs: number;
  /** Receives each line of its output. */
  onLine?: ((line: string) => void) | undefined;
}

const POLL_INTERVAL_MS = 100;
const LAST_LINES_MS = SECOND / 2;
const MAX_WORDS = 4000;

/** Starts a command line through the shell, in its own process group. */
export function startApp({ command, env, cwd, graceMs, onLine }: AppStart): AppProcess {
  const child = spawn(command, { shell: true, detached: true, stdio: ["ignore", "pipe", "pipe"], env, cwd });
  // Also when this process ends at once, as by a second Ctrl-C.
  const killAll = (): void => signalGroup(child, "SIGKILL");
  process.once("exit", killAll);
  let lastWords = "";
  let ending: string | undefined;
  const ended = new Promise<number>((resolve) => {
    child.once("error", (error) => {
      ending = error.message;
      resolve(EXIT.unreachable);
    });
    child.once("exit", (code, signal) => {
      ending = signal === null ? `exit code ${code ?? 0}` : signal;
      const settle = (): void => resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]);
      // The last lines arrive until then, unless a program that the app has left behind keeps the output open.
      child.once("close", settle);
      setTimeout(settle, LAST_LINES_MS).unref();
    });
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (lastWords = (lastWords + text).slice(-MAX_WORDS)));
    if (onLine !== undefined) createInterface(stream).on("line", onLine);
  }
  return {
    command,
    get ending() {
      return ending;
    },
    get lastWords() {
      return lastWords;
    },
    ended,
    async stop() {
      const deadline = Date.now() + graceMs;
      const until = async (isOver: () => boolean): Promise<void> => {
        while (!isOver() && Date.now() < deadline) await wait(POLL_INTERVAL_MS / 2);
      };
      // Only the first program: npm and node --watch pass the signal on, and a second one ends many apps at once.
      child.kill("SIGTERM");
      await until(() => ending !== undefined);
      // What a shell has started may still run.
      signalGroup(child, "SIGTERM");
      await until(() => !hasGroup(child));
      killAll();
      process.off("exit", killAll);
      await ended;
    },
  };
}

export interface AppWait {
  url: string;
  patienceMs: number;
  allowRemote: boolean;
  /** The process that must answer; undefined if it was not started here. */
  app: AppProcess | undefined;
  signal: AbortSignal;
}

/** Resolves when the app answers; rejects with the reason if it ends or takes too long. */
export async function waitForApp({ url, patienceMs, allowRemote, app, signal }: AppWait): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const request = { url, method: "GET", headers: [], body: Buffer.alloc(0), timeoutMs: 2 * SECOND };
    const { status, error } = await sendRequest({ ...request, allowRemote, signal });
    if (status !== null) return;
    if (app?.ending !== undefined) {
      throw unreachable(`The app ended before it answered: ${app.ending}.`, { url, app });
    }
    if (Date.now() > deadline) {
      throw unreachable(`${url} did not answer in time: ${error ?? ""}`, { url, app });
    }
    await wait(POLL_INTERVAL_MS, signal);
  }
}

function unreachable(what: string, { url, app }: Pick<AppWait, "url" | "app">): CommandError {
  const advice =
    app === undefined
      ? ""
      : `\nIt must listen at ${new URL(url).origin}. To see why it does not, run it alone: ${app.command}`;
  return new CommandError(EXIT.unreachable, "app_unreachable", `${what}${lastLinesOf(app)}${advice}`);
}

const LAST_LINES = 15;

/** What the app printed last, indented below a sentence; empty if there is none. */
export function lastLinesOf(app: AppProcess | undefined): string {
  if (app === undefined) return "";
  const lines = app.lastWords.trimEnd().split("\n").slice(-LAST_LINES);
  if (lines.join("") === "") return " It printed nothing.";
  return ` Its last output:\n${lines.map((line) => `  ${escapeControls(stripVTControlCharacters(line))}`).join("\n")}`;
}

/** The variable that tells an app its port. */
export const PORT_VARIABLE = "PORT";

/** The port of an app that names none. */
export const DEFAULT_APP_PORT = "3000";

/** The port at which an app is expected if no flag says it. */
export function findAppPort(context: Pick<CommandContext, "env" | "cwd">): string {
  return readVariable(PORT_VARIABLE, context) ?? DEFAULT_APP_PORT;
}

/**
 * The variable for an app that is started, if it is expected there: it may not read `.env` by itself. Empty for an app
 * whose port was given in another way.
 */
export function portVariable(app: URL, context: Pick<CommandContext, "env" | "cwd">): Record<string, string> {
  const port = findAppPort(context);
  return String(portOf(app)) === port ? { [PORT_VARIABLE]: port } : {};
}

/** On this machine a port answers at once or not at all. */
const CONNECT_TIMEOUT_MS = 2 * SECOND;

/** Whether a program already listens at a port. */
export function isTaken({ hostname, port }: { hostname: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[(.*)\]$/, "$1"), port });
    const settle = (taken: boolean) => (): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, settle(false));
    socket.once("connect", settle(true)).once("error", settle(false));
  });
}

/** The port of a URL, which may leave out the usual one. */
export function portOf({ port, protocol }: URL): number {
  return Number(port === "" ? (protocol === "https:" ? 443 : 80) : port);
}
