import { spawnSync } from "node:child_process";

/** Milliseconds of CPU that a command and its children take. Throws when it fails. */
export function cpuOfCommand(command: readonly string[], cwd: string): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >&2';
  const { status, stderr } = spawnSync("bash", ["-c", script, "bash", ...command], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command.join(" ")} failed: ${stderr}`);
  const [user = Number.NaN, system = Number.NaN] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  return (user + system) * 1_000;
}
