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
