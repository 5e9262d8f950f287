import { spawn } from "node:child_process";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";

export interface RunProgramInput {
  /** Program and arguments, separated by spaces. */
  command: string;
  folder: string;
  signal?: AbortSignal;
}

/** Number of lines of a failed program that its error quotes. */
const QUOTED_LINES = 15;

/**
 * Runs a program to its end. Rejects with `program_failed` and its last lines, or with the signal's reason once it has
 * ended.
 */
export function runProgram({ command, folder, signal }: RunProgramInput): Promise<void> {
  const [program = "", ...args] = command.split(" ");
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    // Its own process group: installers start programs that would outlive them.
    const child = spawn(program, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
      shell: process.platform === "win32",
    });
    const stop = (): void => {
      stopGroup(child.pid, "SIGTERM");
      setTimeout(() => stopGroup(child.pid, "SIGKILL"), 3 * SECOND).unref();
    };
    signal?.addEventListener("abort", stop, { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        for (const line of text.split(/\r?\n/).filter((line) => line.trim() !== "")) {
          lines.push(line);
          if (lines.length > QUOTED_LINES) lines.shift();
        }
      });
    }
    child.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "ENOENT" ? "is not installed" : `cannot be started (${error.code ?? "unknown"})`;
      reject(new PigeonholeError("program_failed", `${program} ${why}.`, { cause: error }));
    });
    child.once("close", (code, killedBy) => {
      signal?.removeEventListener("abort", stop);
      if (signal?.aborted === true) reject(signal.reason as Error);
      else if (code === 0) resolve();
      else {
        const how = code === null ? `was ended by ${String(killedBy)}` : `failed with ${code}`;
        reject(new PigeonholeError("program_failed", `"${command}" ${how}:\n${lines.join("\n")}`));
      }
    });
  });
}

function stopGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // It has ended already.
  }
}
