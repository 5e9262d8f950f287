import type { ChildProcess } from "node:child_process";

/** Sends a signal to a child that was started as the leader of its group, and to what it has started. */
export function signalGroup({ pid }: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The whole group has ended.
  }
}

/** Whether a program of the group still runs. */
export function hasGroup({ pid }: ChildProcess): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}
