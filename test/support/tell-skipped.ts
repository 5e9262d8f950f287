import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { canTrace, findChromium, hasPostgres, hasTerminal, isInstalled, isRoot } from "./tools.js";

/** Tests of one kind that some machines have to skip. */
interface Group {
  /** What its tests need beside Node. */
  need: string;
  tests: string;
  isThere: () => boolean;
}

/** Whether this is Linux, which shows a process the locks of its files. */
function isLinux(): boolean {
  return process.platform === "linux";
}

/** The groups of tests that a machine may have to skip, by the project that they are in. */
export const GROUPS: Record<string, readonly Group[]> = {
  unit: [
    {
      need: "a store in memory that keeps its data",
      tests: "what a store keeps for the next process; the stores in files are tested for that",
      isThere: () => false,
    },
  ],
  smoke: [
    {
      need: "PostgreSQL",
      tests: "the store on PostgreSQL, kills of its processes, its template",
      isThere: hasPostgres,
    },
    { need: "Chromium", tests: "a story of each page", isThere: () => findChromium() !== undefined },
    { need: "cc", tests: "a power cut", isThere: () => isInstalled("cc") },
  ],
  browser: [{ need: "Chromium", tests: "the page", isThere: () => findChromium() !== undefined }],
  process: [
    { need: "PostgreSQL", tests: "the store on PostgreSQL", isThere: hasPostgres },
    { need: "Chromium", tests: "the dashboard's page on PostgreSQL", isThere: () => findChromium() !== undefined },
    { need: "cc", tests: "slow disks", isThere: () => isInstalled("cc") },
    { need: "script of util-linux", tests: "questions in a terminal", isThere: hasTerminal },
    { need: "strace", tests: "the order of writes and file modes as the system sees them", isThere: canTrace },
    { need: "promtool of Prometheus", tests: "the alert rules", isThere: () => isInstalled("promtool") },
    {
      need: "openssl",
      tests: "deliveries over HTTPS, turns of the event loop behind TLS",
      isThere: () => isInstalled("openssl"),
    },
    { need: "Linux", tests: "files that are changed in place", isThere: isLinux },
    { need: "/proc of Linux", tests: "folders in which none can be made", isThere: () => existsSync("/proc/self") },
    { need: "/sys of Linux", tests: "folders that root may not write to", isThere: () => existsSync("/sys/kernel") },
    { need: "/dev/full", tests: "output into a full disk", isThere: () => existsSync("/dev/full") },
    {
      need: "a system other than Windows",
      tests: "output that is written only in part",
      isThere: () => process.platform !== "win32",
    },
    { need: "a user other than root", tests: "files that the user may not read", isThere: () => !isRoot() },
    { need: "root", tests: "files of another user", isThere: isRoot },
  ],
  docs: [
    { need: "PostgreSQL", tests: "the examples on PostgreSQL", isThere: hasPostgres },
    { need: "redis-server", tests: "the hand-over to BullMQ", isThere: () => isInstalled("redis-server") },
  ],
  simulation: [
    { need: "PostgreSQL", tests: "models and mistakes of the store on PostgreSQL", isThere: hasPostgres },
    { need: "cc", tests: "power cuts at any moment", isThere: () => isInstalled("cc") },
  ],
  long: [
    { need: "PostgreSQL", tests: "more of the store on PostgreSQL, its template", isThere: hasPostgres },
    { need: "Chromium", tests: "the looks of the page", isThere: () => findChromium() !== undefined },
    { need: "cc", tests: "slow disks, more power cuts", isThere: () => isInstalled("cc") },
    { need: "/proc of Linux", tests: "memory of an example", isThere: () => existsSync("/proc/self") },
  ],
};

/**
 * Prints one line for each group that is skipped here. Vitest calls it once for each project, before its first test.
 */
export default function tellSkipped({ name }: TestProject): void {
  for (const { need, tests, isThere } of GROUPS[name] ?? []) {
    if (!isThere()) console.warn(`Skipped without ${need}: ${tests}.`);
  }
}
