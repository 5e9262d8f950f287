import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { PigeonholeError } from "../../base/error.js";

/**
 * better-sqlite3 before 13 that was built for Node 24.19 or newer ends the process when a statement is
 * garbage-collected. The version that it was built for cannot be detected, and 24.18 loads it too.
 */
const FIRST_NODE_UNSAFE_WITH_12 = 24;

/**
 * better-sqlite3 13 is built for this version of Node-API, which Node 22.14 and 23.6 have; a Node with an older version
 * crashes.
 */
const NODE_API_OF_13 = 10;

/**
 * Throws `driver_unusable` where the installed better-sqlite3 would crash this Node, which no `catch` can stop. Call it
 * before the native module is loaded; better-sqlite3 loads that with the first connection.
 */
export function checkDriver(): void {
  if (isUsable) return;
  const driver = installedDriver();
  if (driver !== undefined) checkPair(driver, process.versions);
  isUsable = true;
}

/** Neither changes in a process, and a store opens several connections. */
let isUsable = false;

/** {@link checkDriver} for these versions. */
export function checkPair(driver: string, { node, napi = "0" }: { node: string; napi?: string }): void {
  const isOld = majorOf(driver) < 13;
  if (isOld && majorOf(node) >= FIRST_NODE_UNSAFE_WITH_12) {
    throw new PigeonholeError(
      "driver_unusable",
      `better-sqlite3 ${driver} ends the process on Node ${node} if it was built for Node 24.19 or newer, so it was not loaded. Run npm install better-sqlite3@13 on this Node; ${LOCKED}`,
    );
  }
  if (!isOld && Number(napi) < NODE_API_OF_13) {
    throw new PigeonholeError(
      "driver_unusable",
      `better-sqlite3 ${driver} needs Node 22.14 or 23.6 and ends the process on Node ${node}, so it was not loaded. Run this on Node 24, or pin better-sqlite3 to 12.11.1 and install again ("overrides" in package.json; "resolutions" with Yarn; "overrides" in pnpm-workspace.yaml with pnpm); ${LOCKED}`,
    );
  }
}

const LOCKED = "a lockfile or node_modules of another machine keeps the version that was chosen there.";

/** Undefined where a bundler has left no package to read. */
function installedDriver(): string | undefined {
  try {
    const path = createRequire(import.meta.url).resolve("better-sqlite3/package.json");
    return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
  } catch {
    return undefined;
  }
}

function majorOf(version: string): number {
  return Number(version.split(".")[0]);
}
