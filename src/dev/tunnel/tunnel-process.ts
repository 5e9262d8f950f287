import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { signalGroup } from "./signal-group.js";
import { escapeControls } from "../../base/text.js";
import type { TunnelProgram } from "./tunnel-programs.js";

const MAX_LINE_LENGTH = 300;
const SHOWN_LINES = 5;
const TERMINATE_MS = 2 * SECOND;

/** A tunnel program that runs and has shown its URL. */
export interface TunnelProcess {
  publicUrl: string;
  /** Resolves when the program has ended for any reason. */
  ended: Promise<void>;
  kill(): Promise<void>;
}

/**
 * Runs the program until its public URL is seen in its output. Rejects with `tunnel_failed` when it is not installed,
 * ends or shows no URL within `timeoutMs`; then it has been ended.
 */
export async function runTunnelProgram(
  program: TunnelProgram,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<TunnelProcess> {
  // Its own process group, so that programs started by a wrapper such as npx end too, and Ctrl-C does not end it before
  // us.
  const child = spawn(program.command, program.args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let hasEnded = false;
  const signalAll = (name: "SIGTERM" | "SIGKILL"): void => {
    // The number of an ended group may be reused.
    if (!hasEnded) signalGroup(child, name);
  };
  const onExit = (): void => signalAll("SIGKILL");
  process.once("exit", onExit);
  // Programs that a wrapper started must not outlive it. "close" comes when no process has its output open.
  child.once("exit", () => signalAll("SIGKILL"));
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      hasEnded = true;
      process.removeListener("exit", onExit);
      resolve();
    };
    child.once("close", end);
    child.once("error", end);
  });

  async function kill(): Promise<void> {
    signalAll("SIGTERM");
    const timer = new AbortController();
    const late = sleep(TERMINATE_MS, undefined, { signal: timer.signal, ref: false }).then(
      () => signalAll("SIGKILL"),
      () => undefined,
    );
    await ended;
    timer.abort();
    await late;
  }

  try {
    return { publicUrl: await findPublicUrl(child, program, { timeoutMs, signal }), ended, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** The first URL in the output of the program. */
function findPublicUrl(
  child: ChildProcessByStdio<null, Readable, Readable>,
  program: TunnelProgram,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<string> {
  const lines: string[] = [];
  const failed = (what: string): PigeonholeError => {
    const shown = lines.slice(-SHOWN_LINES).map((line) => `\n  ${line}`);
    return new PigeonholeError("tunnel_failed", `The tunnel ${program.name} ${what}${shown.join("")}`);
  };

  return new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(failed(`showed no public URL within ${timeoutMs / SECOND} s.`)), timeoutMs);
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    const clear = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    for (const stream of [child.stdout, child.stderr]) {
      // Keep reading after the URL was found: a full pipe would block the program.
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(escapeControls(line).slice(0, MAX_LINE_LENGTH));
        if (lines.length > SHOWN_LINES) lines.shift();
        const found = program.findUrl(line);
        if (found === undefined) return;
        clear();
        resolve(found.replace(/\/+$/, ""));
      });
    }
    child.once("error", (error: NodeJS.ErrnoException) => {
      clear();
      reject(
        failed(error.code === "ENOENT" ? `is not installed. ${program.install}` : `cannot be run (${error.code}).`),
      );
    });
    child.once("close", (code) => {
      clear();
      reject(failed(`ended${code === null ? "" : ` with code ${code}`} before it showed a public URL.`));
    });
    if (signal.aborted) abort();
  });
}
