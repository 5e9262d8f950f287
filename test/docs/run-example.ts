import { spawn } from "node:child_process";
import { join } from "node:path";
import { TEST_SECRET } from "pigeonhole/testing";
import { onTestFinished } from "vitest";

/** A program under examples/ in a folder that has them, as a reader runs it; ended after the test. */
export function runExample(folder: string, name: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["--import", "tsx", join("examples", `${name}.ts`)], {
    cwd: folder,
    env: { ...process.env, WEBHOOK_SECRET: TEST_SECRET, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  // With the programs that it has started.
  onTestFinished(() => {
    const isOver = child.exitCode !== null || child.signalCode !== null;
    if (!isOver && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text.toString()));
  const ended = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
  return { child, ended, output: () => output };
}
