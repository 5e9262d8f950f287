import type { TestProject } from "vitest/node";
import { hasVersionBefore } from "./version-before.js";
import { canTrace, findChromium, hasTerminal, isInstalled } from "./tools.js";

interface Group {
  /** What its tests need beside Node. */
  tool: string;
  tests: string;
  isThere: () => boolean;
}

/** The groups of tests that a machine may have to skip, by the project that they are in. */
const GROUPS: Record<string, readonly Group[]> = {
  browser: [{ tool: "Chromium", tests: "the page", isThere: () => findChromium() !== undefined }],
  process: [
    { tool: "cc", tests: "slow disks", isThere: () => isInstalled("cc") },
    { tool: "script of util-linux", tests: "questions in a terminal, completion in shells", isThere: hasTerminal },
    { tool: "strace", tests: "the order of writes and file modes as the system sees them", isThere: canTrace },
    { tool: "zsh", tests: "completion in zsh", isThere: () => isInstalled("zsh") },
    { tool: "fish", tests: "completion in fish", isThere: () => isInstalled("fish") },
    { tool: "the history of git", tests: "files of the version before", isThere: hasVersionBefore },
  ],
  simulation: [{ tool: "cc", tests: "power cuts and sieges", isThere: () => isInstalled("cc") }],
};

/**
 * Prints one line for each group that is skipped here. Vitest calls it once for each project, before its first test.
 */
export default function tellSkipped({ name }: TestProject): void {
  for (const { tool, tests, isThere } of GROUPS[name] ?? []) {
    if (!isThere()) console.warn(`Skipped, for want of ${tool}: ${tests}.`);
  }
}
