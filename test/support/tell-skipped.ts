import { spawnSync } from "node:child_process";

/** What some tests need beside Node, and which they are. Those of the page tell themselves when they find no Chromium. */
const TOOLS = {
  cc: "power cuts, sieges and slow disks",
  script: "questions in a terminal",
  strace: "the order of writes and file modes as the system sees them",
  zsh: "completion in zsh",
  fish: "completion in fish",
};

/** Prints a line for each group of tests that is skipped on this machine. Vitest calls it before the first test. */
export default function tellSkipped(): void {
  for (const [tool, tests] of Object.entries(TOOLS)) {
    if (spawnSync(tool, ["--version"], { stdio: "ignore" }).error === undefined) continue;
    console.warn(`Skipped, as ${tool} is not installed: ${tests}.`);
  }
}
